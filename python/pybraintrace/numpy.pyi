"""
NumPy's functions on tensors, inside and outside of traces.

>>> from pybraintrace import numpy as jnp
>>> jnp.mean(jnp.arange(4)).item()
1.5
"""

from typing import Any
from collections.abc import Sequence
from pybraintrace._core import (
    Tensor as Array,
    Tensor as Tensor,
    Tensor as ndarray
)
from pybraintrace._core.ops import (
    abs as abs,
    abs as absolute,
    abs as fabs,
    acos as arccos,
    acosh as arccosh,
    add as add,
    asarray as asarray,
    asin as arcsin,
    asinh as arcsinh,
    atan as arctan,
    atan2 as arctan2,
    atan2 as atan2,
    atanh as arctanh,
    broadcast_to as broadcast_to,
    cbrt as cbrt,
    ceil as ceil,
    cos as cos,
    cosh as cosh,
    cummax as cummax,
    cummin as cummin,
    div as divide,
    div as true_divide,
    equal as equal,
    exp as exp,
    exp2 as exp2,
    expand_dims as expand_dims,
    expm1 as expm1,
    eye as eye,
    flip as flip,
    floor as floor,
    greater as greater,
    greater_equal as greater_equal,
    is_finite as isfinite,
    is_inf as isinf,
    is_nan as isnan,
    less as less,
    less_equal as less_equal,
    linspace as linspace,
    log as log,
    log1p as log1p,
    log2 as log2,
    max as maximum,
    min as minimum,
    mod as mod,
    mod as remainder,
    moveaxis as moveaxis,
    mul as multiply,
    neg as negative,
    not_equal as not_equal,
    pad as pad,
    pow as power,
    reciprocal as reciprocal,
    rem as fmod,
    roll as roll,
    round as rint,
    sign as sign,
    sin as sin,
    sinh as sinh,
    sqrt as sqrt,
    square as square,
    stack as stack,
    sub as subtract,
    take_along_axis as take_along_axis,
    tan as tan,
    tanh as tanh,
    tril as tril,
    triu as triu,
    xor as bitwise_xor
)


pi: float = 3.141592653589793

e: float = 2.718281828459045

inf: float = float('inf')

nan: float = float('nan')

newaxis: None = None

def array(x: Any, dtype: Any = None, copy: bool = True) -> Tensor:
    """
    A tensor with these elements; what the caller writes later does not show.
    """

def zeros(shape: Any, dtype: Any = None) -> Tensor:
    """Zeros."""

def ones(shape: Any, dtype: Any = None) -> Tensor:
    """Ones."""

def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """One value everywhere."""

empty = zeros

def zeros_like(x: Any, dtype: Any = None) -> Tensor:
    """Zeros of the shape and type of x."""

def ones_like(x: Any, dtype: Any = None) -> Tensor:
    """Ones of the shape and type of x."""

def full_like(x: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """One value in the shape and type of x."""

empty_like = zeros_like

def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Tensor:
    """start, start + step, … before stop."""

def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """
    x where the condition holds, else y; with the condition alone, the positions where it holds.
    """

def clip(x: Any, min: Any = None, max: Any = None) -> Tensor:
    """Limited to [min, max]."""

def logical_and(x: Any, y: Any) -> Tensor:
    """Both hold."""

def logical_or(x: Any, y: Any) -> Tensor:
    """One of them holds."""

def logical_xor(x: Any, y: Any) -> Tensor:
    """Exactly one of them holds."""

def logical_not(x: Any) -> Tensor:
    """It does not hold."""

def floor_divide(x: Any, y: Any) -> Tensor:
    """The quotient rounded down."""

def round(x: Any, decimals: int = 0) -> Tensor:
    """To the nearest number with so many decimals."""

def sum(x: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """The sum."""

def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The mean."""

def prod(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The product."""

def max(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The largest element."""

def min(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The smallest element."""

amax = max

amin = min

def var(x: Any, axis: Any = None, keepdims: bool = False, ddof: float = 0.0) -> Tensor:
    """Mean squared distance from the mean."""

def std(x: Any, axis: Any = None, keepdims: bool = False, ddof: float = 0.0) -> Tensor:
    """Root of the mean squared distance from the mean."""

def all(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether all elements hold."""

def any(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether any element holds."""

def argmax(x: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Position of the first largest element."""

def argmin(x: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Position of the first smallest element."""

def sort(x: Any, axis: int = -1) -> Tensor:
    """Sorted along an axis."""

def argsort(x: Any, axis: int = -1) -> Tensor:
    """Positions that sort it."""

def cumsum(x: Any, axis: int | None = None) -> Tensor:
    """Running sum."""

def cumprod(x: Any, axis: int | None = None) -> Tensor:
    """Running product."""

def reshape(x: Any, shape: Any) -> Tensor:
    """The same elements in another shape."""

def ravel(x: Any) -> Tensor:
    """One axis."""

def transpose(x: Any, axes: Any = None) -> Tensor:
    """Axes in another order, reversed unless told otherwise."""

def swapaxes(x: Any, axis1: int, axis2: int) -> Tensor:
    """Two axes exchanged."""

def squeeze(x: Any, axis: Any = None) -> Tensor:
    """Without axes of size one."""

def atleast_1d(x: Any) -> Tensor:
    """At least one axis."""

def concatenate(arrays: Sequence[Any], axis: int | None = 0) -> Tensor:
    """Joined along an axis."""

concat = concatenate

def hstack(arrays: Sequence[Any]) -> Tensor:
    """Joined along the second axis, or the only one."""

def vstack(arrays: Sequence[Any]) -> Tensor:
    """Joined along the first axis; vectors become rows."""

def split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Cut along an axis, into equal parts or at places."""

def repeat(x: Any, repeats: int, axis: int | None = None) -> Tensor:
    """Each element several times."""

def tile(x: Any, reps: Any) -> Tensor:
    """The whole several times along its axes."""

def dot(x: Any, y: Any) -> Tensor:
    """The plain product."""

matmul = dot

def einsum(equation: str, *operands: Any) -> Tensor:
    """Products and sums with one letter per axis."""

def outer(x: Any, y: Any) -> Tensor:
    """Every product of an element of x with one of y."""

def tensordot(x: Any, y: Any, axes: int = 2) -> Tensor:
    """Sum over the last axes of x and the first of y."""

def take(x: Any, indices: Any, axis: int | None = None) -> Tensor:
    """Elements at positions along an axis."""

def diag(x: Any) -> Tensor:
    """A vector as a diagonal matrix, or the diagonal of a matrix."""

def allclose(x: Any, y: Any, rtol: float = 1e-05, atol: float = 1e-08) -> bool:
    """Whether all elements are close to each other."""

def array_equal(x: Any, y: Any) -> bool:
    """Whether shapes and elements are equal."""

def shape(x: Any) -> tuple[int, ...]:
    """Sizes of the axes."""

def ndim(x: Any) -> int:
    """Number of axes."""

def size(x: Any) -> int:
    """Number of elements."""

def astype(x: Any, dtype: Any) -> Tensor:
    """Converted to another element type."""

def nonzero(x: Any) -> tuple[Tensor, ...]:
    """Positions of elements that are not zero; outside of traces."""

def unique(x: Any) -> Tensor:
    """The different elements, sorted; outside of traces."""

def meshgrid(*xs: Any, indexing: str = 'xy') -> list[Tensor]:
    """Coordinates of a grid."""

class linalg:
    """The part of numpy.linalg that needs no factorization."""

    @staticmethod
    def norm(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
        """The root of the sum of squares."""

def __getattr__(name: str) -> Any: ...

def bitwise_and(*operands: Any) -> Tensor: ...

def bitwise_not(*operands: Any) -> Tensor: ...

def invert(*operands: Any) -> Tensor: ...

def bitwise_or(*operands: Any) -> Tensor: ...
