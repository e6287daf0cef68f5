# SPDX-License-Identifier: Apache-2.0
"""NumPy functions of tensors, also of traced ones.

>>> from pybraintrace import numpy as jnp
>>> jnp.mean(jnp.arange(4)).item()
1.5
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as _np

from . import _core
from ._core import Tensor
from ._core.ops import (asarray, broadcast_to, cummax, cummin, expand_dims, eye, flip, linspace, moveaxis, roll, stack,
                        take_along_axis, tril, triu, where as _where)

_ops = _core.ops
ndarray = Array = Tensor
float16, float32, float64 = _np.float16, _np.float32, _np.float64
int32, int64, uint32, bool_ = _np.int32, _np.int64, _np.uint32, _np.bool_
pi, e, inf, nan, newaxis = _np.pi, _np.e, _np.inf, _np.nan, None

# Elementwise functions by their NumPy names, and the operations that implement them.
_SAME = ("abs ceil floor sign square sqrt exp exp2 expm1 log log1p log2 sin cos tan sinh cosh tanh cbrt reciprocal "
         "atan2 greater greater_equal less less_equal equal not_equal mod")
_OTHER = {
    "absolute": "abs", "fabs": "abs", "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div",
    "negative": "neg", "maximum": "max", "minimum": "min", "fmod": "rem", "remainder": "mod", "power": "pow", "rint": "round",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "arctan2": "atan2", "isfinite": "is_finite", "isinf": "is_inf", "isnan": "is_nan",
    "bitwise_and": "and_", "bitwise_or": "or_", "bitwise_xor": "xor", "bitwise_not": "not_", "invert": "not_",
}
for _name in _SAME.split():
    globals()[_name] = getattr(_ops, _name)
for _name, _op in _OTHER.items():
    globals()[_name] = getattr(_ops, _op)


def array(x: Any, dtype: Any = None, copy: bool = True) -> Tensor:
    """Return a tensor with a copy of the elements."""
    made = asarray(x, dtype)
    return made.copy() if copy else made


def copy(x: Any) -> Tensor:
    """Return a tensor with a copy of the elements."""
    return asarray(x).copy()


def from_dlpack(x: Any) -> Tensor:
    """Return a tensor of an array of another library that supports DLPack."""
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack: expected an array that supports DLPack, got {type(x).__name__}")
    return asarray(x)


def zeros(shape: Any, dtype: Any = None) -> Tensor:
    """Return zeros."""
    return _ops.full(shape, 0.0, dtype)


def ones(shape: Any, dtype: Any = None) -> Tensor:
    """Return ones."""
    return _ops.full(shape, 1.0, dtype)


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """Return a tensor filled with one value."""
    return _ops.full(shape, fill_value, dtype)


empty = zeros


def zeros_like(x: Any, dtype: Any = None) -> Tensor:
    """Return zeros with the shape and dtype of x."""
    x = asarray(x)
    return _ops.full(x.shape, 0.0, dtype or x.dtype)


def ones_like(x: Any, dtype: Any = None) -> Tensor:
    """Return ones with the shape and dtype of x."""
    x = asarray(x)
    return _ops.full(x.shape, 1.0, dtype or x.dtype)


def full_like(x: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """Return a tensor filled with one value, with the shape and dtype of x."""
    x = asarray(x)
    return _ops.full(x.shape, fill_value, dtype or x.dtype)


empty_like = zeros_like


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Tensor:
    """Return evenly spaced values in [start, stop), or in [0, start) if `stop` is None."""
    if stop is None:
        start, stop = 0, start
    if dtype is None:
        whole = builtins.all(isinstance(v, (int, _np.integer)) for v in (start, stop, step))
        dtype = int if whole else float
    return _ops.arange(float(start), float(stop), float(step), dtype)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Return elements of x where the condition is true, and of y elsewhere; with the condition alone, the indices where it is true."""
    if x is None and y is None:
        return tuple(asarray(i) for i in _np.nonzero(_np.asarray(condition)))
    if type(x) is int and type(y) is int:
        x, y = asarray(x, int), asarray(y, int)
    return _where(asarray(condition).astype(bool), x, y)


def clip(x: Any, min: Any = None, max: Any = None) -> Tensor:
    """Limit the elements to [min, max]."""
    return asarray(x).clip(min, max)


def logical_and(x: Any, y: Any) -> Tensor:
    """Return x and y, element by element."""
    return asarray(x).astype(bool) & asarray(y).astype(bool)


def logical_or(x: Any, y: Any) -> Tensor:
    """Return x or y, element by element."""
    return asarray(x).astype(bool) | asarray(y).astype(bool)


def logical_xor(x: Any, y: Any) -> Tensor:
    """Return x xor y, element by element."""
    return asarray(x).astype(bool) ^ asarray(y).astype(bool)


def logical_not(x: Any) -> Tensor:
    """Return not x, element by element."""
    return ~asarray(x).astype(bool)


def floor_divide(x: Any, y: Any) -> Tensor:
    """Return the quotient rounded down."""
    return asarray(x) // y


def round(x: Any, decimals: int = 0) -> Tensor:
    """Round to a number of decimals."""
    x = asarray(x)
    return x.round() if decimals == 0 else (x * 10.0 ** decimals).round() / 10.0 ** decimals


def sum(x: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """Return the sum along axes."""
    out = asarray(x).sum(axis, keepdims)
    return out if dtype is None else out.astype(dtype)


def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Return the mean along axes."""
    return asarray(x).mean(axis, keepdims)


def prod(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Return the product along axes."""
    return asarray(x).prod(axis, keepdims)


def max(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Return the maximum along axes."""
    return asarray(x).max(axis, keepdims)


def min(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Return the minimum along axes."""
    return asarray(x).min(axis, keepdims)


amax, amin = max, min


def var(x: Any, axis: Any = None, keepdims: bool = False, ddof: float = 0.0) -> Tensor:
    """Return the variance along axes, with divisor N - ddof."""
    return asarray(x).var(axis, keepdims, float(ddof))


def std(x: Any, axis: Any = None, keepdims: bool = False, ddof: float = 0.0) -> Tensor:
    """Return the standard deviation along axes, with divisor N - ddof."""
    return asarray(x).std(axis, keepdims, float(ddof))


def all(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Test whether all elements along axes are true."""
    return asarray(x).astype(bool).all(axis, keepdims)


def any(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Test whether any element along axes is true."""
    return asarray(x).astype(bool).any(axis, keepdims)


def argmax(x: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return the index of the first maximum."""
    return asarray(x).argmax(axis, keepdims)


def argmin(x: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return the index of the first minimum."""
    return asarray(x).argmin(axis, keepdims)


def sort(x: Any, axis: int = -1) -> Tensor:
    """Return a copy sorted along an axis."""
    return asarray(x).sort(axis)


def argsort(x: Any, axis: int = -1) -> Tensor:
    """Return the indices that sort the tensor along an axis."""
    return asarray(x).argsort(axis)


def cumsum(x: Any, axis: int | None = None) -> Tensor:
    """Return the cumulative sum along an axis; None flattens first."""
    x = asarray(x)
    return x.flatten().cumsum(0) if axis is None else x.cumsum(axis)


def cumprod(x: Any, axis: int | None = None) -> Tensor:
    """Return the cumulative product along an axis; None flattens first."""
    x = asarray(x)
    return x.flatten().cumprod(0) if axis is None else x.cumprod(axis)


def reshape(x: Any, shape: Any) -> Tensor:
    """Return the elements in a new shape; one size may be -1."""
    return asarray(x).reshape(shape)


def ravel(x: Any) -> Tensor:
    """Return the elements as a vector."""
    return asarray(x).flatten()


def transpose(x: Any, axes: Any = None) -> Tensor:
    """Permute the axes; default: reverse them."""
    return asarray(x).transpose(axes)


def swapaxes(x: Any, axis1: int, axis2: int) -> Tensor:
    """Exchange two axes."""
    x = asarray(x)
    order = list(range(x.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return x.transpose(order)


def squeeze(x: Any, axis: Any = None) -> Tensor:
    """Remove axes of size one: the given ones, or all."""
    return asarray(x).squeeze(axis)


def atleast_1d(x: Any) -> Tensor:
    """Return x with at least one axis."""
    x = asarray(x)
    return x.copy() if x.ndim else x.reshape(1)


def concatenate(arrays: Sequence[Any], axis: int | None = 0) -> Tensor:
    """Concatenate arrays along an existing axis; None flattens them first."""
    return _ops.concat(list(arrays), axis)


concat = concatenate


def hstack(arrays: Sequence[Any]) -> Tensor:
    """Concatenate arrays along the second axis, or along the only axis of vectors."""
    parts = [atleast_1d(a) for a in arrays]
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1)


def vstack(arrays: Sequence[Any]) -> Tensor:
    """Concatenate arrays along the first axis; vectors become rows."""
    return concatenate([asarray(a).reshape(1, -1) if asarray(a).ndim < 2 else a for a in arrays], 0)


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Split along an axis, into equal sections or at the given indices."""
    return _ops.split(x, indices_or_sections, axis)


def repeat(x: Any, repeats: int, axis: int | None = None) -> Tensor:
    """Repeat each element along an axis; None flattens first."""
    x = asarray(x)
    if axis is None:
        x, axis = x.flatten(), 0
    axis %= x.ndim
    wide = broadcast_to(expand_dims(x, axis + 1), (*x.shape[:axis + 1], repeats, *x.shape[axis + 1:]))
    return wide.reshape((*x.shape[:axis], x.shape[axis] * repeats, *x.shape[axis + 1:]))


def tile(x: Any, reps: Any) -> Tensor:
    """Repeat the whole tensor along its axes."""
    x = asarray(x)
    reps = (reps,) if isinstance(reps, int) else tuple(reps)
    x = x.reshape((1,) * builtins.max(0, len(reps) - x.ndim) + x.shape)
    reps = (1,) * (x.ndim - len(reps)) + reps
    for axis, n in enumerate(reps):
        if n != 1:
            x = concatenate([x] * n, axis)
    return x


def dot(x: Any, y: Any) -> Tensor:
    """Return the matrix product. Operands get the gradient of the current step only; use `pybraintrace.matmul` to learn online."""
    return asarray(x) @ y


matmul = dot


def einsum(equation: str, *operands: Any) -> Tensor:
    """Evaluate an Einstein summation."""
    return _ops.plain_einsum(equation, *operands)


def outer(x: Any, y: Any) -> Tensor:
    """Return the outer product."""
    return ravel(x).reshape(-1, 1) * ravel(y).reshape(1, -1)


def tensordot(x: Any, y: Any, axes: int = 2) -> Tensor:
    """Contract the last `axes` axes of x with the first of y."""
    x, y = asarray(x), asarray(y)
    n = x.shape[x.ndim - axes:]
    left, right = x.shape[:x.ndim - axes], y.shape[axes:]
    size = int(_np.prod(n)) if n else 1
    return (x.reshape((-1, size)) @ y.reshape((size, -1))).reshape((*left, *right))


def take(x: Any, indices: Any, axis: int | None = None) -> Tensor:
    """Return the elements at the given indices along an axis; None flattens first."""
    x = asarray(x)
    return x.flatten().take(indices, 0) if axis is None else x.take(indices, axis)


def pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0.0) -> Tensor:
    """Pad with a constant; `pad_width` is (before, after) for each axis, one pair for all, or one number."""
    if mode != "constant":
        raise ValueError(f"pad: expected mode 'constant', got {mode!r}")
    x = asarray(x)
    return _ops.pad(x, _np.broadcast_to(pad_width, (x.ndim, 2)).tolist(), constant_values)


def diag(x: Any) -> Tensor:
    """Return the diagonal matrix of a vector, or the diagonal of a matrix."""
    x = asarray(x)
    if x.ndim == 1:
        return eye(x.shape[0], dtype=x.dtype) * x
    return _ops.plain_einsum("ii->i", x)


def allclose(x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8) -> bool:
    """Test whether all elements are equal within a tolerance."""
    return builtins.bool(_np.allclose(_np.asarray(x), _np.asarray(y), rtol, atol))


def array_equal(x: Any, y: Any) -> bool:
    """Test whether shapes and elements are equal."""
    return builtins.bool(_np.array_equal(_np.asarray(x), _np.asarray(y)))


def shape(x: Any) -> tuple[int, ...]:
    """Return the shape."""
    return asarray(x).shape


def ndim(x: Any) -> int:
    """Return the number of axes."""
    return asarray(x).ndim


def size(x: Any) -> int:
    """Return the number of elements."""
    return asarray(x).size


def astype(x: Any, dtype: Any) -> Tensor:
    """Convert to another dtype."""
    return asarray(x).astype(dtype)


def nonzero(x: Any) -> tuple[Tensor, ...]:
    """Return the indices of nonzero elements. Not available for traced tensors."""
    return tuple(asarray(i) for i in _np.nonzero(_np.asarray(x)))


def unique(x: Any) -> Tensor:
    """Return the sorted unique elements. Not available for traced tensors."""
    return asarray(_np.unique(_np.asarray(x)))


def meshgrid(*xs: Any, indexing: str = "xy") -> list[Tensor]:
    """Return coordinate matrices of a grid."""
    return [asarray(a) for a in _np.meshgrid(*(_np.asarray(x) for x in xs), indexing=indexing)]


class linalg:
    """Functions of numpy.linalg."""

    @staticmethod
    def norm(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Return the Euclidean norm along axes."""
        x = asarray(x)
        return _ops.sqrt((x * x).sum(axis, keepdims))

    @staticmethod
    def qr(x: Any) -> tuple[Tensor, Tensor]:
        """Return the QR decomposition of a matrix. Not available for traced tensors."""
        q, r = _np.linalg.qr(_np.asarray(x))
        return asarray(q), asarray(r)


def __getattr__(name: str) -> Any:
    if name == "bfloat16":
        from ._arrays import bfloat16

        return bfloat16()
    raise AttributeError(f"module 'pybraintrace.numpy' has no function '{name}'")
