# SPDX-License-Identifier: Apache-2.0
"""Check that this is the main interpreter: like NumPy, the extension module would crash at exit in a subinterpreter."""

from __future__ import annotations

import importlib


def is_main() -> bool:
    """Return whether this is the main interpreter, or one that does not tell."""
    for name in ("_interpreters", "_xxsubinterpreters"):  # Python 3.13 and later, and before
        try:
            current = importlib.import_module(name).get_current()
        except (ImportError, AttributeError):
            continue
        return int(current[0] if isinstance(current, tuple) else current) == 0
    return True


if not is_main():
    raise ImportError("pybraintrace runs in the main interpreter only, like NumPy; use threads or processes instead of subinterpreters")
