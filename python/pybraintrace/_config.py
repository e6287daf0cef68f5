# SPDX-License-Identifier: Apache-2.0
"""Configurations as JSON text."""

from __future__ import annotations

import os
from typing import Any


def _plain(value: Any) -> Any:
    """Return NumPy's numbers, arrays and paths as what JSON knows."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"got {value!r}")


def as_text(where: str, config: Any) -> str:
    """Return the JSON text of a configuration."""
    import json

    try:
        return json.dumps(config, default=_plain, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{where}: expected a dict of finite numbers, texts, lists and dicts; {error}") from None
