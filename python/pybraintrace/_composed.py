# SPDX-License-Identifier: Apache-2.0
"""NumPy functions that are composed of others: all work on traced tensors, unless they say otherwise."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Sequence
from typing import Any

import numpy as _np

from . import numpy as _n
from ._core import Tensor

# Elementwise ----------------------------------------------------------------------------------------------------------


def copysign(x: Any, y: Any) -> Tensor:
    """Return x with the sign of y."""
    size = _n.abs(_n._floats(x))
    return _n.where(signbit(y), -size, size)


def deg2rad(x: Any) -> Tensor:
    """Convert degrees to radians."""
    return _n._floats(x) * (_np.pi / 180)


def fmax(x: Any, y: Any) -> Tensor:
    """Return the maximum, element by element; of a number and nan, the number."""
    x, y = _n.asarray(x), _n.asarray(y)
    return _n.where(_n.isnan(x), y, _n.where(_n.isnan(y), x, _n.maximum(x, y)))


def fmin(x: Any, y: Any) -> Tensor:
    """Return the minimum, element by element; of a number and nan, the number."""
    x, y = _n.asarray(x), _n.asarray(y)
    return _n.where(_n.isnan(x), y, _n.where(_n.isnan(y), x, _n.minimum(x, y)))


def heaviside(x: Any, at_zero: Any) -> Tensor:
    """Return 0 where x is negative, 1 where it is positive, and `at_zero` where it is zero."""
    x = _n.asarray(_n._floats(x))
    return _n.where(_n.isnan(x), x, _n.where(x == 0, at_zero, (x > 0).astype(x.dtype)))


def hypot(x: Any, y: Any) -> Tensor:
    """Return the square root of x² + y²."""
    x, y = _n.abs(_n._floats(x)), _n.abs(_n._floats(y))
    large = _n.maximum(x, y)  # its square may be out of range
    ratio = _n.minimum(x, y) / _n.where((large == 0) | _n.isinf(large), 1.0, large)
    return _n.where(_n.isinf(large), large, large * _n.sqrt(1 + ratio * ratio))


def isclose(x: Any, y: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Tensor:
    """Test whether |x - y| is at most atol + rtol |y|, element by element."""
    x, y = _n.asarray(_n._floats(x)), _n.asarray(_n._floats(y))
    finite = _n.isfinite(x) & _n.isfinite(y)
    near = _n.where(finite, _n.abs(_n.where(finite, x, 0.0) - _n.where(finite, y, 0.0)) <= atol + rtol * _n.abs(_n.where(finite, y, 0.0)), x == y)
    return near | (_n.isnan(x) & _n.isnan(y)) if equal_nan else near


def isin(x: Any, values: Any) -> Tensor:
    """Test for each element whether it is among the values."""
    return (_n.expand_dims(_n.asarray(x), -1) == _n.ravel(values)).any(-1)


def log10(x: Any) -> Tensor:
    """Return the logarithm to the base 10."""
    return _n.log(x) * (1 / _np.log(10))


def logaddexp(x: Any, y: Any) -> Tensor:
    """Return log(exp(x) + exp(y))."""
    x, y = _n.asarray(_n._floats(x)), _n.asarray(_n._floats(y))
    large, gap = _n.maximum(x, y), _n.abs(x - y)
    return _n.where(x == y, large + _np.log(2), large + _n.log1p(_n.exp(-gap)))


def nan_to_num(x: Any, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """Replace nan, and infinities by the largest finite numbers."""
    x = _n.asarray(x)
    if x.dtype.kind != "f":
        return x
    most = float(_np.finfo(x.dtype).max)
    x = _n.where(_n.isnan(x), nan, x)
    return _n.where(_n.isinf(x), _n.where(x > 0, most if posinf is None else posinf, -most if neginf is None else neginf), x)


def polyval(p: Any, x: Any) -> Tensor:
    """Return the value of a polynomial with coefficients p, that of the highest power first."""
    p, x = _n.asarray(p), _n.asarray(x)
    y = _n.zeros_like(x * p.sum())
    for i in range(p.shape[0]):
        y = y * x + p[i]
    return y


def rad2deg(x: Any) -> Tensor:
    """Convert radians to degrees."""
    return _n._floats(x) * (180 / _np.pi)


def signbit(x: Any) -> Tensor:
    """Test whether the sign is negative, also that of -0."""
    x = _n.asarray(x)
    return x < 0 if x.dtype.kind != "f" else (x < 0) | ((x == 0) & (1 / x < 0))


def sinc(x: Any) -> Tensor:
    """Return sin(πx) / πx, and 1 where x is zero."""
    x = _n.asarray(_n._floats(x)) * _np.pi
    other = _n.where(x == 0, 1.0, x)
    return _n.where(x == 0, 1.0, _n.sin(other) / other)


def trunc(x: Any) -> Tensor:
    """Round toward zero."""
    x = _n.asarray(x)
    return x if x.dtype.kind != "f" else _n.where(x < 0, _n.ceil(x), _n.floor(x))


def positive(x: Any) -> Tensor:
    """Return +x."""
    return +_n.asarray(x)


degrees, radians = rad2deg, deg2rad

# Along axes -----------------------------------------------------------------------------------------------------------


def average(x: Any, axis: Any = None, weights: Any = None, *, keepdims: bool = False) -> Tensor:
    """Return the mean, or the mean with weights."""
    x = _n.asarray(_n._floats(x))
    if weights is None:
        return x.mean(axis, keepdims)
    weights = _n.asarray(weights)
    if weights.ndim == 1 and x.ndim > 1 and isinstance(axis, int):
        shape = [1] * x.ndim
        shape[_n._axis_of("average", axis, x.ndim)] = -1
        weights = weights.reshape(shape)
    weights = _n.broadcast_to(weights, x.shape)
    return (x * weights).sum(axis, keepdims) / weights.sum(axis, keepdims)


def bincount(x: Any, weights: Any = None, minlength: int = 0, *, length: int | None = None) -> Tensor:
    """Count each number of 0, 1, …, or sum its weights. For traced tensors, give the length of the result; larger numbers are then left out."""
    x = _n.ravel(x)
    if length is None:
        counted = _np.asarray(x)
        if counted.size and counted.min() < 0:
            raise ValueError(f"bincount: expected numbers that are not negative, got {counted.min()}")
        length = builtins.max(operator.index(minlength), int(counted.max()) + 1 if counted.size else 0)
    hits = _n.expand_dims(x, 1) == _n.arange(length)
    return hits.astype(int).sum(0) if weights is None else _n.where(hits, _n.expand_dims(_n._floats(weights), 1), 0.0).sum(0)


def count_nonzero(x: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Return the number of nonzero elements along axes."""
    return (_n.asarray(x) != 0).astype(int).sum(axis, keepdims)


def diff(x: Any, n: int = 1, axis: int = -1) -> Tensor:
    """Return the differences of neighbors along an axis, n times."""
    x = _n.asarray(x)
    axis, n = _n._axis_of("diff", axis, x.ndim), operator.index(n)
    if n < 0:
        raise ValueError(f"diff: expected a number of times that is not negative, got {n}")
    front = (slice(None),) * axis
    for _ in range(n):
        later, earlier = x[(*front, slice(1, None))], x[(*front, slice(None, -1))]
        x = later != earlier if x.dtype.kind == "b" else later - earlier
    return x


def _without_nan(x: Any, other: float) -> tuple[Tensor, Tensor]:
    x = _n.asarray(_n._floats(x))
    return _n.where(_n.isnan(x), other, x), ~_n.isnan(x)


def nansum(x: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Return the sum of the elements that are not nan."""
    return _without_nan(x, 0.0)[0].sum(axis, keepdims)


def nanmean(x: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Return the mean of the elements that are not nan."""
    values, valid = _without_nan(x, 0.0)
    return values.sum(axis, keepdims) / valid.astype(values.dtype).sum(axis, keepdims)


def nanmax(x: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Return the maximum of the elements that are not nan."""
    values, valid = _without_nan(x, -_np.inf)
    return _n.where(valid.any(axis, keepdims), values.max(axis, keepdims), _np.nan)


def nanmin(x: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Return the minimum of the elements that are not nan."""
    values, valid = _without_nan(x, _np.inf)
    return _n.where(valid.any(axis, keepdims), values.min(axis, keepdims), _np.nan)


def ptp(x: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Return the range of values, maximum - minimum."""
    x = _n.asarray(x)
    return x.max(axis, keepdims) - x.min(axis, keepdims)


def quantile(x: Any, q: Any, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Return quantiles along an axis, with linear interpolation; q lies in 0 … 1."""
    x = _n.asarray(_n._floats(x))
    shape = (1,) * x.ndim if axis is None else (*x.shape[:_n._axis_of("quantile", axis, x.ndim)], 1, *x.shape[_n._axis_of("quantile", axis, x.ndim) + 1:])
    # The axis in front, so that positions are rows.
    rows = (_n.ravel(x) if axis is None else _n.moveaxis(x, axis, 0)).sort(0)
    positions = _np.asarray(q, dtype=float)
    if not ((positions >= 0) & (positions <= 1)).all():
        raise ValueError(f"quantile: expected q in 0 … 1, got {q!r}")
    if rows.shape[0] == 0:
        raise _n._core.ShapeError("quantile: expected at least one element, got none")
    at = positions * (rows.shape[0] - 1)
    low = _np.floor(at).astype(int)
    rest = _n.asarray((at - low).reshape(positions.shape + (1,) * (rows.ndim - 1)), x.dtype)
    first, second = (rows[_n.asarray(i.reshape(-1))].reshape(positions.shape + rows.shape[1:]) for i in (low, _np.minimum(low + 1, rows.shape[0] - 1)))
    out = first + _n.where(rest == 0, 0.0, (second - first) * rest)
    # nan sorts to the end, and makes every quantile nan.
    out = _n.where(_n.isnan(rows[-1]), _np.nan, out)
    return out.reshape(positions.shape + shape) if keepdims else out


def percentile(x: Any, q: Any, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Return percentiles along an axis, with linear interpolation; q lies in 0 … 100."""
    return quantile(x, _np.asarray(q, dtype=float) / 100, axis, keepdims=keepdims)


def median(x: Any, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Return the median along an axis."""
    return quantile(x, 0.5, axis, keepdims=keepdims)


def cov(x: Any, *, rowvar: bool = True, ddof: float = 1.0) -> Tensor:
    """Return the covariance matrix of variables in rows, or in columns."""
    x = atleast_2d(_n._floats(x))
    x = x if rowvar or x.shape[0] == 1 else x.transpose()
    apart = x - x.mean(1, True)
    out = apart @ apart.transpose() / (x.shape[1] - ddof)
    return out.reshape(()) if out.shape == (1, 1) else out


def corrcoef(x: Any, *, rowvar: bool = True) -> Tensor:
    """Return the correlation coefficients of variables in rows, or in columns."""
    c = cov(x, rowvar=rowvar)
    if c.ndim == 0:
        return c / c
    size = _n.sqrt(_n.diag(c))
    return c / _n.outer(size, size)


def interp(x: Any, xp: Any, fp: Any) -> Tensor:
    """Interpolate linearly between points (xp, fp), where xp increases; values outside are those of the ends."""
    x, xp, fp = (_n.asarray(_n._floats(v)) for v in (x, xp, fp))
    i = _n.clip(searchsorted(xp, x, "right"), 1, xp.shape[0] - 1)
    left, right = xp[i - 1], xp[i]
    share = (x - left) / _n.where(right == left, 1.0, right - left)
    return fp[i - 1] + (fp[i] - fp[i - 1]) * _n.clip(share, 0.0, 1.0)


def searchsorted(a: Any, v: Any, side: str = "left") -> Tensor:
    """Return the positions at which v would keep the vector a sorted: before equal elements, or behind them."""
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: expected side 'left' or 'right', got {side!r}")
    a, v = _n.asarray(a), _n.expand_dims(_n.asarray(v), -1)
    return (a < v if side == "left" else a <= v).astype(int).sum(-1)


def digitize(x: Any, bins: Any, right: bool = False) -> Tensor:
    """Return for each element the number of its bin; `bins` holds increasing borders."""
    return searchsorted(bins, x, "left" if right else "right")


# Products -------------------------------------------------------------------------------------------------------------


def inner(x: Any, y: Any) -> Tensor:
    """Return the products of the last axes."""
    x, y = _n.asarray(x), _n.asarray(y)
    return x * y if x.ndim == 0 or y.ndim == 0 else _n.tensordot(x, _n.moveaxis(y, -1, 0), 1)


def vdot(x: Any, y: Any) -> Tensor:
    """Return the product of the elements as vectors."""
    return _n.ravel(x) @ _n.ravel(y)


def kron(x: Any, y: Any) -> Tensor:
    """Return the Kronecker product."""
    x, y = _n.asarray(x), _n.asarray(y)
    axes = builtins.max(x.ndim, y.ndim)
    a, b = (1,) * (axes - x.ndim) + x.shape, (1,) * (axes - y.ndim) + y.shape
    spread = x.reshape([n for size in a for n in (size, 1)]) * y.reshape([n for size in b for n in (1, size)])
    return spread.reshape([m * n for m, n in zip(a, b)])


def cross(x: Any, y: Any) -> Tensor:
    """Return the cross products of vectors with three elements along the last axis."""
    x, y = _n.asarray(x), _n.asarray(y)
    if x.shape[-1:] != (3,) or y.shape[-1:] != (3,):
        raise _n._core.ShapeError(f"cross: expected vectors with three elements, got shapes {x.shape} and {y.shape}")
    after, before = _np.array([1, 2, 0]), _np.array([2, 0, 1])
    return x[..., after] * y[..., before] - x[..., before] * y[..., after]


def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Return a diagonal of the matrices in two axes, as the last axis."""
    x = _n.asarray(x)
    last = [_n._axis_of("diagonal", axis, x.ndim) for axis in (axis1, axis2)]
    x = x.transpose([axis for axis in range(x.ndim) if axis not in last] + last)
    rows, columns = _np.eye(*x.shape[-2:], offset).nonzero()
    return x[..., rows, columns]


def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Return the sum of a diagonal."""
    return diagonal(x, offset, axis1, axis2).sum(-1)


# Shapes ---------------------------------------------------------------------------------------------------------------


def append(x: Any, values: Any, axis: int | None = None) -> Tensor:
    """Return x followed by values along an axis; None flattens both."""
    return _n.concatenate([x, values], axis)


def atleast_2d(x: Any) -> Tensor:
    """Return x with at least two axes; a vector becomes a row."""
    x = _n.asarray(x)
    return x.copy() if x.ndim > 1 else x.reshape(1, -1)


def broadcast_arrays(*xs: Any) -> list[Tensor]:
    """Return the arrays in the shape that they have together."""
    tensors = [_n.asarray(x) for x in xs]
    together = _np.broadcast_shapes(*(x.shape for x in tensors))
    return [_n.broadcast_to(x, together) for x in tensors]


def column_stack(arrays: Sequence[Any]) -> Tensor:
    """Concatenate matrices and vectors, as columns, along the second axis."""
    return _n.concatenate([_n.asarray(a).reshape(-1, 1) if _n.asarray(a).ndim < 2 else a for a in arrays], 1)


def dstack(arrays: Sequence[Any]) -> Tensor:
    """Concatenate along the third axis, which matrices and vectors lack."""
    parts = [atleast_2d(a) for a in arrays]
    return _n.concatenate([_n.expand_dims(a, 2) if a.ndim == 2 else a for a in parts], 2)


def array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Split along an axis, into sections of nearly equal size or at the given indices."""
    x = _n.asarray(x)
    if not isinstance(indices_or_sections, (int, _np.integer)):
        return _n.split(x, indices_or_sections, axis)
    parts = operator.index(indices_or_sections)
    if parts < 1:
        raise ValueError(f"array_split: expected a positive number of sections, got {parts}")
    size = x.shape[_n._axis_of("array_split", axis, x.ndim)]
    return _n.split(x, [(size // parts) * i + builtins.min(i, size % parts) for i in range(1, parts)], axis)


def fliplr(x: Any) -> Tensor:
    """Reverse the second axis."""
    return _n.flip(x, 1)


def flipud(x: Any) -> Tensor:
    """Reverse the first axis."""
    return _n.flip(x, 0)


def rot90(x: Any, k: int = 1) -> Tensor:
    """Rotate matrices in the first two axes by k times 90 degrees, from the first axis toward the second."""
    x = _n.asarray(x)
    for _ in range(k % 4):
        x = _n.flip(_n.swapaxes(x, 0, 1), 0)
    return x


def permute_dims(x: Any, axes: Any) -> Tensor:
    """Permute the axes."""
    return _n.asarray(x).transpose(axes)


# New tensors ----------------------------------------------------------------------------------------------------------


def identity(n: int, dtype: Any = None) -> Tensor:
    """Return the identity matrix."""
    return _n.eye(n, dtype=dtype)


def logspace(start: float, stop: float, num: int = 50, base: float = 10.0) -> Tensor:
    """Return powers of a base, whose exponents are evenly spaced from start to stop."""
    return _n.power(base, _n.linspace(start, stop, num))


def tri(n: int, m: int | None = None, k: int = 0, dtype: Any = None) -> Tensor:
    """Return ones at and below a diagonal, and zeros above."""
    return _n.tril(_n.ones((n, n if m is None else m), dtype), k)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, ...]:
    """Return the indices of the elements at and below a diagonal."""
    return tuple(_n.asarray(i) for i in _np.tril_indices(n, k, m))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, ...]:
    """Return the indices of the elements at and above a diagonal."""
    return tuple(_n.asarray(i) for i in _np.triu_indices(n, k, m))


def select(conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0) -> Tensor:
    """Return elements of the choice whose condition is the first that holds, and `default` where none does."""
    if len(conditions) != len(choices):
        raise ValueError(f"select: expected as many choices as conditions, got {len(choices)} for {len(conditions)}")
    out = _n.asarray(default)
    for condition, choice in zip(reversed(conditions), reversed(choices)):
        out = _n.where(condition, choice, out)
    return out
