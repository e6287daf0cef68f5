# SPDX-License-Identifier: Apache-2.0
"""Helpers that the extension module calls: sequences as arrays, bfloat16."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core


class _Leaf:
    def __repr__(self) -> str:
        return "*"


LEAF = _Leaf()


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_holds_tensor(v) for v in value)
    return isinstance(value, _core.Tensor)


def from_sequence(value: Any) -> Any:
    """Convert a sequence to an array; sequences with tensors are stacked, so that traced ones stay traced."""
    if _holds_tensor(value):
        return _core.ops.stack([from_sequence(v) if isinstance(v, (list, tuple)) else v for v in value])
    array = np.asarray(value)
    if array.dtype == object:
        raise TypeError(f"expected a sequence of numbers or arrays, got {value!r:.80}")
    return array


def bfloat16() -> Any:
    """Return the NumPy type of bfloat16, from the package ml_dtypes."""
    try:
        import ml_dtypes
    except ImportError as error:
        raise TypeError("NumPy supports bfloat16 only with the package ml_dtypes; install it, or convert with astype('float32').") from error
    return ml_dtypes.bfloat16


def from_pickle(array: np.ndarray, dtype: str) -> Any:
    """Return a tensor of exactly this dtype, whatever the precision of the environment is."""
    from . import environ

    with environ.context(precision=64):
        return _core.ops.asarray(array, dtype)
