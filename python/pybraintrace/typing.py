# SPDX-License-Identifier: Apache-2.0
"""Types for annotations."""

from collections.abc import Callable, Sequence
from typing import Any, Union

import numpy as np

ArrayLike = Any
"""A tensor, a NumPy array, an object that supports DLPack, a number, or a sequence of these."""
DTypeLike = Any
"""A dtype: a NumPy type, its name, or float, int, bool."""
InitializerLike = Any
"""A number, an array, the name of an initializer, an Initializer, or a function of the shape."""
Size = Union[int, Sequence[int]]
"""One size, or a sequence of sizes."""
Shape = tuple[int, ...]
"""Shape of an array."""
PyTree = Any
"""Arrays in nested tuples, lists, dicts and dataclasses."""
DType = np.dtype
Function = Callable[..., Any]
