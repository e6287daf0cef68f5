# SPDX-License-Identifier: Apache-2.0
"""What the extension module asks Python for: sequences as arrays, bfloat16."""

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
    """Numbers as one NumPy array; a sequence with tensors in it is stacked, so that traced ones keep their trace."""
    if _holds_tensor(value):
        return _core.ops.stack([from_sequence(v) if isinstance(v, (list, tuple)) else v for v in value])
    array = np.asarray(value)
    if array.dtype == object:
        raise TypeError(f"a sequence of mixed values cannot be an array: {value!r:.80}")
    return array


def bfloat16() -> Any:
    """The NumPy type of bfloat16, which the package ml_dtypes brings."""
    try:
        import ml_dtypes
    except ImportError as error:
        raise TypeError("NumPy shows bfloat16 only with the package ml_dtypes; or convert with astype('float32').") from error
    return ml_dtypes.bfloat16


def from_pickle(array: np.ndarray, dtype: str) -> Any:
    """A tensor of exactly this element type and these elements, whatever the precision is here."""
    from . import environ

    with environ.context(precision=64):
        return _core.ops.asarray(array, dtype)
