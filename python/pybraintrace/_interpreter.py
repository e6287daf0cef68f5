# SPDX-License-Identifier: Apache-2.0
"""The extension module, as NumPy, belongs to the main interpreter; loaded in another one it would crash when the process ends."""

from __future__ import annotations

import importlib


def is_main() -> bool:
    """Whether this is the main interpreter, or one that does not say."""
    for name in ("_interpreters", "_xxsubinterpreters"):  # Python 3.13 and later, and before
        try:
            current = importlib.import_module(name).get_current()
        except (ImportError, AttributeError):
            continue
        return int(current[0] if isinstance(current, tuple) else current) == 0
    return True


if not is_main():
    raise ImportError("pybraintrace runs in the main interpreter only, as NumPy does; use threads or processes instead of subinterpreters")
