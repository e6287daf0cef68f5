# SPDX-License-Identifier: Apache-2.0
"""NumPy functions of tensors, also of traced ones.

>>> from pybraintrace import numpy as jnp
>>> jnp.mean(jnp.arange(4)).item()
1.5
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence
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
dtype, finfo, iinfo, issubdtype, floating, integer = _np.dtype, _np.finfo, _np.iinfo, _np.issubdtype, _np.floating, _np.integer
pi, e, inf, nan, newaxis = _np.pi, _np.e, _np.inf, _np.nan, None

# Elementwise functions by their NumPy names, and the operations that implement them.
_SAME = "abs sign square greater greater_equal less less_equal equal not_equal mod"
_OTHER = {
    "absolute": "abs", "add": "add", "multiply": "mul", "maximum": "max", "minimum": "min", "fmod": "rem", "remainder": "mod",
    "power": "pow", "pow": "pow", "isfinite": "is_finite", "isinf": "is_inf", "isnan": "is_nan",
    "bitwise_and": "and_", "bitwise_or": "or_", "bitwise_xor": "xor", "bitwise_not": "not_", "invert": "not_",
}
for _name in _SAME.split():
    globals()[_name] = getattr(_ops, _name)
for _name, _op in _OTHER.items():
    globals()[_name] = getattr(_ops, _op)

# Functions whose results are floats, also of integers.
_FLOAT = {
    **{n: n for n in ("ceil floor sqrt exp exp2 expm1 log log1p log2 sin cos tan sinh cosh tanh cbrt reciprocal "
                      "asin acos atan asinh acosh atanh").split()},
    "fabs": "abs", "rint": "round", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
}


def _floats(x: Any) -> Any:
    """Convert integers and bools to the default float type; Python numbers adopt the type of the other operand."""
    if type(x) in (int, float):
        return float(x)  # so that no operation takes it for an integer
    x = asarray(x)
    return x.astype(float) if x.dtype.kind in "iub" else x


def _float_function(name: str, op: Callable[[Any], Tensor]) -> Callable[[Any], Tensor]:
    def function(x: Any) -> Tensor:
        return op(_floats(x))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (op.__doc__ or "").split("\n\n")[-1]
    return function


for _name, _op in _FLOAT.items():
    globals()[_name] = _float_function(_name, getattr(_ops, _op))


def divide(x: Any, y: Any) -> Tensor:
    """Return x / y."""
    return _ops.div(_floats(x), _floats(y))


def arctan2(x: Any, y: Any) -> Tensor:
    """Return the angle whose sine and cosine are in the ratio of x and y."""
    return _ops.atan2(_floats(x), _floats(y))


true_divide, atan2 = divide, arctan2


def _axis_of(where: str, axis: Any, ndim: int) -> int:
    """Return a number of an axis, counted from the front."""
    n = operator.index(axis)
    if not -ndim <= n < ndim:
        raise _core.ShapeError(f"{where}: axis {n} does not exist in a tensor with {ndim} axes")
    return n % ndim


def subtract(x: Any, y: Any) -> Tensor:
    """Return the difference."""
    return asarray(x) - y if type(x) not in (int, float) else _ops.sub(x, y)


def negative(x: Any) -> Tensor:
    """Return -x."""
    return -asarray(x)


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
    return _ops.full(shape, fill_value, int if dtype is None and type(fill_value) is int else dtype)


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


def _is_whole(x: Any) -> bool:
    return isinstance(x, (int, _np.integer)) or isinstance(x, (Tensor, _np.ndarray)) and x.dtype.kind in "iu"


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Tensor:
    """Return evenly spaced values in [start, stop), or in [0, start) if `stop` is None."""
    if stop is None:
        start, stop = 0, start
    if dtype is None:
        dtype = int if builtins.all(map(_is_whole, (start, stop, step))) else float
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
    """Round to a number of decimals; integers stay integers."""
    return asarray(x).round(decimals)


# The arguments after `axis` have other positions in NumPy, so they are passed by name.


def sum(x: Any, axis: Any = None, *, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """Return the sum along axes, computed in `dtype`."""
    return _converted(x, dtype).sum(axis, keepdims)


def _converted(x: Any, dtype: Any) -> Tensor:
    return asarray(x) if dtype is None else asarray(x).astype(dtype)


def mean(x: Any, axis: Any = None, *, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """Return the mean along axes, computed in `dtype`."""
    return _converted(x, dtype).mean(axis, keepdims)


def prod(x: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Return the product along axes."""
    return asarray(x).prod(axis, keepdims)


def max(x: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Return the maximum along axes."""
    return asarray(x).max(axis, keepdims)


def min(x: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Return the minimum along axes."""
    return asarray(x).min(axis, keepdims)


amax, amin = max, min


def var(x: Any, axis: Any = None, *, keepdims: bool = False, ddof: float = 0.0) -> Tensor:
    """Return the variance along axes, with divisor N - ddof."""
    return asarray(x).var(axis, keepdims, float(ddof))


def std(x: Any, axis: Any = None, *, keepdims: bool = False, ddof: float = 0.0) -> Tensor:
    """Return the standard deviation along axes, with divisor N - ddof."""
    return asarray(x).std(axis, keepdims, float(ddof))


def all(x: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Test whether all elements along axes are true."""
    return asarray(x).astype(bool).all(axis, keepdims)


def any(x: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Test whether any element along axes is true."""
    return asarray(x).astype(bool).any(axis, keepdims)


def argmax(x: Any, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Return the index of the first maximum."""
    return asarray(x).argmax(axis, keepdims)


def argmin(x: Any, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Return the index of the first minimum."""
    return asarray(x).argmin(axis, keepdims)


def sort(x: Any, axis: int | None = -1) -> Tensor:
    """Return a copy sorted along an axis; None flattens first."""
    return ravel(x).sort() if axis is None else asarray(x).sort(axis)


def argsort(x: Any, axis: int | None = -1) -> Tensor:
    """Return the indices that sort the tensor along an axis; None flattens first."""
    return ravel(x).argsort() if axis is None else asarray(x).argsort(axis)


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
    first, second = _axis_of("swapaxes", axis1, x.ndim), _axis_of("swapaxes", axis2, x.ndim)
    order[first], order[second] = order[second], order[first]
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
    if not parts:
        raise ValueError("hstack: expected at least one array, got none")
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1)


def vstack(arrays: Sequence[Any]) -> Tensor:
    """Concatenate arrays along the first axis; vectors become rows."""
    return concatenate([asarray(a).reshape(1, -1) if asarray(a).ndim < 2 else a for a in arrays], 0)


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Split along an axis, into equal sections or at the given indices."""
    return _ops.split(x, indices_or_sections, axis)


def repeat(x: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Repeat each element along an axis, all equally often or each a number of times; None flattens first."""
    x = asarray(x)
    if axis is None:
        x, axis = x.flatten(), 0
    axis = _axis_of("repeat", axis, x.ndim)
    times = _np.asarray(repeats)
    if times.ndim:
        return take(x, _np.repeat(_np.arange(x.shape[axis]), times), axis)
    repeats = operator.index(repeats)
    if repeats < 0:
        raise ValueError(f"repeat: expected a number of repeats that is not negative, got {repeats}")
    wide = broadcast_to(expand_dims(x, axis + 1), (*x.shape[:axis + 1], repeats, *x.shape[axis + 1:]))
    return wide.reshape((*x.shape[:axis], x.shape[axis] * repeats, *x.shape[axis + 1:]))


def tile(x: Any, reps: Any) -> Tensor:
    """Repeat the whole tensor along its axes."""
    x = asarray(x)
    reps = tuple(operator.index(n) for n in (reps if _np.ndim(reps) else (reps,)))
    if builtins.any(n < 0 for n in reps):
        raise ValueError(f"tile: expected numbers of repeats that are not negative, got {reps}")
    x = x.reshape((1,) * builtins.max(0, len(reps) - x.ndim) + x.shape)
    reps = (1,) * (x.ndim - len(reps)) + reps
    for axis, n in enumerate(reps):
        if n == 0:
            x = x[(slice(None),) * axis + (slice(0),)]
        elif n > 1:
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
    """Return the elements at the given indices along an axis; None flattens first. Negative indices count from the end."""
    x = asarray(x)
    return x.flatten().take(indices, 0) if axis is None else x.take(indices, axis)


def pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0.0) -> Tensor:
    """Pad with a constant; `pad_width` is (before, after) for each axis, one pair for all, or one number."""
    if mode != "constant":
        raise ValueError(f"pad: expected mode 'constant', got {mode!r}")
    x = asarray(x)
    return _ops.pad(x, _np.broadcast_to(_np.asarray(pad_width), (x.ndim, 2)).tolist(), constant_values)


def diag(x: Any) -> Tensor:
    """Return the diagonal matrix of a vector, or the diagonal of a matrix."""
    x = asarray(x)
    if x.ndim == 1:
        return eye(x.shape[0], dtype=x.dtype) * x
    return _ops.plain_einsum("ii->i", x)


def allclose(x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8) -> bool:
    """Test whether all elements are equal within a tolerance."""
    return builtins.bool(_np.allclose(_np.asarray(x), _np.asarray(y), _np.asarray(rtol), _np.asarray(atol)))


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


def _norm_of_vectors(x: Tensor, order: Any, axis: int, keepdims: bool) -> Tensor:
    """(Σ |x|ᵖ)^(1/p)"""
    if isinstance(order, str):
        raise ValueError(f"norm: expected ord to be a number for vectors, got {order!r}")
    size = _ops.abs(x)
    if order == inf:
        return size.max(axis, keepdims)
    if order == -inf:
        return size.min(axis, keepdims)
    if order == 0:
        return (x != 0).astype(x.dtype).sum(axis, keepdims)
    if order == 1:
        return size.sum(axis, keepdims)
    return _ops.sqrt((x * x).sum(axis, keepdims)) if order == 2 else (size ** order).sum(axis, keepdims) ** (1 / order)


class linalg:
    """Functions of numpy.linalg."""

    @staticmethod
    def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Return the norm of vectors along an axis, or of matrices in two axes.

        Args:
            x: the tensor; without `ord` and `axis`, its elements form one vector.
            ord: None for the Euclidean norm, or the order as in NumPy. Those of a matrix that need singular values (2, -2, 'nuc') are not
                available for traced tensors.
            axis: an axis or two; default: all.
            keepdims: whether to keep the axes, with size one.
        """
        x = asarray(_floats(x))
        if ord is None:
            return _ops.sqrt((x * x).sum(axis, keepdims))
        axes = [_axis_of("norm", a, x.ndim) for a in (range(x.ndim) if axis is None else axis if isinstance(axis, (list, tuple)) else (axis,))]
        if len(axes) == 1:
            return _norm_of_vectors(x, ord, axes[0], keepdims)
        if len(axes) != 2:
            raise _core.ShapeError(f"norm: with ord, expected one axis or two, got {len(axes)}; pass axis")
        if ord == "fro":
            return _ops.sqrt((x * x).sum(axes, keepdims))
        if ord not in (1, -1, inf, -inf):
            return asarray(_np.linalg.norm(_np.asarray(x), ord, tuple(axes), keepdims))
        # The largest or smallest sum of a column, or of a row.
        within, across = axes if builtins.abs(ord) == 1 else reversed(axes)
        sums = _ops.abs(x).sum(within, True)
        out = sums.max(across, True) if ord > 0 else sums.min(across, True)
        return out if keepdims else squeeze(out, tuple(axes))

    @staticmethod
    def qr(x: Any) -> tuple[Tensor, Tensor]:
        """Return the QR decomposition of a matrix. Not available for traced tensors."""
        q, r = _np.linalg.qr(_np.asarray(x))
        return asarray(q), asarray(r)


from ._composed import (  # noqa: E402 - they use the functions above
    append, array_split, atleast_2d, average, bincount, broadcast_arrays, column_stack, copysign, corrcoef, count_nonzero,
    cov, cross, deg2rad, degrees, diagonal, diff, digitize, dstack, fliplr, flipud, fmax, fmin, heaviside, hypot,
    identity, inner, interp, isclose, isin, kron, log10, logaddexp, logspace, median, nan_to_num, nanmax, nanmean, nanmin,
    nansum, percentile, permute_dims, polyval, positive, ptp, quantile, rad2deg, radians, rot90, searchsorted, select, signbit,
    sinc, trace, tri, tril_indices, triu_indices, trunc, vdot)


def __getattr__(name: str) -> Any:
    if name == "bfloat16":
        from ._arrays import bfloat16

        return bfloat16()
    raise AttributeError(f"module 'pybraintrace.numpy' has no function '{name}'")
