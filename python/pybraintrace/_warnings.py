# SPDX-License-Identifier: Apache-2.0
"""Warnings of the library as Python warnings, attributed to the line of user code that caused them."""

import os
import sys
import warnings

_HERE = os.path.dirname(__file__)


def warn(text: str) -> None:
    """Warn at the innermost line outside of this package."""
    level, frame = 1, sys._getframe(1) if hasattr(sys, "_getframe") else None
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, UserWarning, stacklevel=level + 1)
