# SPDX-License-Identifier: Apache-2.0
"""Names for type hints."""

from collections.abc import Callable, Sequence
from typing import Any, Union

import numpy as np

ArrayLike = Any
"""A tensor, a NumPy array, whatever speaks DLPack, a number, or a sequence of them."""
DTypeLike = Any
"""An element type: a NumPy type, its name, or float, int, bool."""
InitializerLike = Any
"""A number, an array, the name of an initializer, an Initializer, or a function of the shape."""
Size = Union[int, Sequence[int]]
"""One size, or several."""
Shape = tuple[int, ...]
"""Sizes of the axes of an array."""
PyTree = Any
"""Arrays in tuples, lists, dicts and dataclasses."""
DType = np.dtype
Function = Callable[..., Any]
