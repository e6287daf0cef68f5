"""
NumPy functions of tensors, also of traced ones.

>>> from pybraintrace import numpy as jnp
>>> jnp.mean(jnp.arange(4)).item()
1.5
"""

from typing import Any
from collections.abc import Sequence
from pybraintrace._composed import (
    append as append,
    array_split as array_split,
    atleast_2d as atleast_2d,
    average as average,
    bincount as bincount,
    broadcast_arrays as broadcast_arrays,
    column_stack as column_stack,
    copysign as copysign,
    corrcoef as corrcoef,
    count_nonzero as count_nonzero,
    cov as cov,
    cross as cross,
    deg2rad as deg2rad,
    deg2rad as radians,
    diagonal as diagonal,
    diff as diff,
    digitize as digitize,
    dstack as dstack,
    fliplr as fliplr,
    flipud as flipud,
    fmax as fmax,
    fmin as fmin,
    heaviside as heaviside,
    hypot as hypot,
    identity as identity,
    inner as inner,
    interp as interp,
    isclose as isclose,
    isin as isin,
    kron as kron,
    log10 as log10,
    logaddexp as logaddexp,
    logspace as logspace,
    median as median,
    nan_to_num as nan_to_num,
    nanmax as nanmax,
    nanmean as nanmean,
    nanmin as nanmin,
    nansum as nansum,
    percentile as percentile,
    permute_dims as permute_dims,
    polyval as polyval,
    positive as positive,
    ptp as ptp,
    quantile as quantile,
    rad2deg as degrees,
    rad2deg as rad2deg,
    rot90 as rot90,
    searchsorted as searchsorted,
    select as select,
    signbit as signbit,
    sinc as sinc,
    trace as trace,
    tri as tri,
    tril_indices as tril_indices,
    triu_indices as triu_indices,
    trunc as trunc,
    vdot as vdot
)
from pybraintrace._core import (
    Tensor as Array,
    Tensor as Tensor,
    Tensor as ndarray
)
from pybraintrace._core.ops import (
    abs as abs,
    abs as absolute,
    add as add,
    asarray as asarray,
    broadcast_to as broadcast_to,
    cummax as cummax,
    cummin as cummin,
    equal as equal,
    expand_dims as expand_dims,
    eye as eye,
    flip as flip,
    greater as greater,
    greater_equal as greater_equal,
    is_finite as isfinite,
    is_inf as isinf,
    is_nan as isnan,
    less as less,
    less_equal as less_equal,
    linspace as linspace,
    max as maximum,
    min as minimum,
    mod as mod,
    mod as remainder,
    moveaxis as moveaxis,
    mul as multiply,
    not_equal as not_equal,
    pow as pow,
    pow as power,
    rem as fmod,
    roll as roll,
    sign as sign,
    square as square,
    stack as stack,
    take_along_axis as take_along_axis,
    tril as tril,
    triu as triu,
    xor as bitwise_xor
)


pi: float = 3.141592653589793

e: float = 2.718281828459045

inf: float = float('inf')

nan: float = float('nan')

newaxis: None = None

def ceil(x: Any) -> Tensor:
    """Least integer not below x."""

def floor(x: Any) -> Tensor:
    """Largest integer not above x."""

def sqrt(x: Any) -> Tensor:
    """Square root."""

def exp(x: Any) -> Tensor:
    """e to the power x"""

def exp2(x: Any) -> Tensor:
    """2 to the power x"""

def expm1(x: Any) -> Tensor:
    """e to the power x, minus 1, accurate near 0"""

def log(x: Any) -> Tensor:
    """Natural logarithm."""

def log1p(x: Any) -> Tensor:
    """Natural logarithm of 1 + x, accurate near 0."""

def log2(x: Any) -> Tensor:
    """Logarithm to base 2."""

def sin(x: Any) -> Tensor:
    """Sine."""

def cos(x: Any) -> Tensor:
    """Cosine."""

def tan(x: Any) -> Tensor:
    """Tangent."""

def sinh(x: Any) -> Tensor:
    """Hyperbolic sine."""

def cosh(x: Any) -> Tensor:
    """Hyperbolic cosine."""

def tanh(x: Any) -> Tensor:
    """Hyperbolic tangent."""

def cbrt(x: Any) -> Tensor:
    """Cube root."""

def reciprocal(x: Any) -> Tensor:
    """1 / x"""

def asin(x: Any) -> Tensor:
    """Inverse sine."""

def acos(x: Any) -> Tensor:
    """Inverse cosine."""

def atan(x: Any) -> Tensor:
    """Inverse tangent."""

def asinh(x: Any) -> Tensor:
    """Inverse hyperbolic sine."""

def acosh(x: Any) -> Tensor:
    """Inverse hyperbolic cosine."""

def atanh(x: Any) -> Tensor:
    """Inverse hyperbolic tangent."""

def fabs(x: Any) -> Tensor:
    """Absolute value."""

def rint(x: Any) -> Tensor:
    """Nearest integer, halves to the even one."""

def arcsin(x: Any) -> Tensor:
    """Inverse sine."""

def arccos(x: Any) -> Tensor:
    """Inverse cosine."""

def arctan(x: Any) -> Tensor:
    """Inverse tangent."""

def arcsinh(x: Any) -> Tensor:
    """Inverse hyperbolic sine."""

def arccosh(x: Any) -> Tensor:
    """Inverse hyperbolic cosine."""

def arctanh(x: Any) -> Tensor:
    """Inverse hyperbolic tangent."""

def divide(x: Any, y: Any) -> Tensor:
    """Return x / y."""

def arctan2(x: Any, y: Any) -> Tensor:
    """Return the angle whose sine and cosine are in the ratio of x and y."""

true_divide = divide

atan2 = arctan2

def subtract(x: Any, y: Any) -> Tensor:
    """Return the difference."""

def negative(x: Any) -> Tensor:
    """Return -x."""

def array(x: Any, dtype: Any = None, copy: bool = True) -> Tensor:
    """Return a tensor with a copy of the elements."""

def copy(x: Any) -> Tensor:
    """Return a tensor with a copy of the elements."""

def from_dlpack(x: Any) -> Tensor:
    """Return a tensor of an array of another library that supports DLPack."""

def zeros(shape: Any, dtype: Any = None) -> Tensor:
    """Return zeros."""

def ones(shape: Any, dtype: Any = None) -> Tensor:
    """Return ones."""

def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """Return a tensor filled with one value."""

empty = zeros

def zeros_like(x: Any, dtype: Any = None) -> Tensor:
    """Return zeros with the shape and dtype of x."""

def ones_like(x: Any, dtype: Any = None) -> Tensor:
    """Return ones with the shape and dtype of x."""

def full_like(x: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """Return a tensor filled with one value, with the shape and dtype of x."""

empty_like = zeros_like

def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Tensor:
    """
    Return evenly spaced values in [start, stop), or in [0, start) if `stop` is None.
    """

def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """
    Return elements of x where the condition is true, and of y elsewhere; with the condition alone, the indices where it is true.
    """

def clip(x: Any, min: Any = None, max: Any = None) -> Tensor:
    """Limit the elements to [min, max]."""

def logical_and(x: Any, y: Any) -> Tensor:
    """Return x and y, element by element."""

def logical_or(x: Any, y: Any) -> Tensor:
    """Return x or y, element by element."""

def logical_xor(x: Any, y: Any) -> Tensor:
    """Return x xor y, element by element."""

def logical_not(x: Any) -> Tensor:
    """Return not x, element by element."""

def floor_divide(x: Any, y: Any) -> Tensor:
    """Return the quotient rounded down."""

def round(x: Any, decimals: int = 0) -> Tensor:
    """Round to a number of decimals; integers stay integers."""

def sum(x: Any, axis: Any = None, *, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """Return the sum along axes, computed in `dtype`."""

def mean(x: Any, axis: Any = None, *, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """Return the mean along axes, computed in `dtype`."""

def prod(x: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Return the product along axes."""

def max(x: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Return the maximum along axes."""

def min(x: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Return the minimum along axes."""

amax = max

amin = min

def var(x: Any, axis: Any = None, *, keepdims: bool = False, ddof: float = 0.0) -> Tensor:
    """Return the variance along axes, with divisor N - ddof."""

def std(x: Any, axis: Any = None, *, keepdims: bool = False, ddof: float = 0.0) -> Tensor:
    """Return the standard deviation along axes, with divisor N - ddof."""

def all(x: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Test whether all elements along axes are true."""

def any(x: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Test whether any element along axes is true."""

def argmax(x: Any, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Return the index of the first maximum."""

def argmin(x: Any, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Return the index of the first minimum."""

def sort(x: Any, axis: int | None = -1) -> Tensor:
    """Return a copy sorted along an axis; None flattens first."""

def argsort(x: Any, axis: int | None = -1) -> Tensor:
    """
    Return the indices that sort the tensor along an axis; None flattens first.
    """

def cumsum(x: Any, axis: int | None = None) -> Tensor:
    """Return the cumulative sum along an axis; None flattens first."""

def cumprod(x: Any, axis: int | None = None) -> Tensor:
    """Return the cumulative product along an axis; None flattens first."""

def reshape(x: Any, shape: Any) -> Tensor:
    """Return the elements in a new shape; one size may be -1."""

def ravel(x: Any) -> Tensor:
    """Return the elements as a vector."""

def transpose(x: Any, axes: Any = None) -> Tensor:
    """Permute the axes; default: reverse them."""

def swapaxes(x: Any, axis1: int, axis2: int) -> Tensor:
    """Exchange two axes."""

def squeeze(x: Any, axis: Any = None) -> Tensor:
    """Remove axes of size one: the given ones, or all."""

def atleast_1d(x: Any) -> Tensor:
    """Return x with at least one axis."""

def concatenate(arrays: Sequence[Any], axis: int | None = 0) -> Tensor:
    """Concatenate arrays along an existing axis; None flattens them first."""

concat = concatenate

def hstack(arrays: Sequence[Any]) -> Tensor:
    """
    Concatenate arrays along the second axis, or along the only axis of vectors.
    """

def vstack(arrays: Sequence[Any]) -> Tensor:
    """Concatenate arrays along the first axis; vectors become rows."""

def split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Split along an axis, into equal sections or at the given indices."""

def repeat(x: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """
    Repeat each element along an axis, all equally often or each a number of times; None flattens first.
    """

def tile(x: Any, reps: Any) -> Tensor:
    """Repeat the whole tensor along its axes."""

def dot(x: Any, y: Any) -> Tensor:
    """
    Return the matrix product. Operands get the gradient of the current step only; use `pybraintrace.matmul` to learn online.
    """

matmul = dot

def einsum(equation: str, *operands: Any) -> Tensor:
    """Evaluate an Einstein summation."""

def outer(x: Any, y: Any) -> Tensor:
    """Return the outer product."""

def tensordot(x: Any, y: Any, axes: int = 2) -> Tensor:
    """Contract the last `axes` axes of x with the first of y."""

def take(x: Any, indices: Any, axis: int | None = None) -> Tensor:
    """
    Return the elements at the given indices along an axis; None flattens first. Negative indices count from the end.
    """

def pad(x: Any, pad_width: Any, mode: str = 'constant', constant_values: Any = 0.0) -> Tensor:
    """
    Pad with a constant; `pad_width` is (before, after) for each axis, one pair for all, or one number.
    """

def diag(x: Any) -> Tensor:
    """Return the diagonal matrix of a vector, or the diagonal of a matrix."""

def allclose(x: Any, y: Any, rtol: float = 1e-05, atol: float = 1e-08) -> bool:
    """Test whether all elements are equal within a tolerance."""

def array_equal(x: Any, y: Any) -> bool:
    """Test whether shapes and elements are equal."""

def shape(x: Any) -> tuple[int, ...]:
    """Return the shape."""

def ndim(x: Any) -> int:
    """Return the number of axes."""

def size(x: Any) -> int:
    """Return the number of elements."""

def astype(x: Any, dtype: Any) -> Tensor:
    """Convert to another dtype."""

def nonzero(x: Any) -> tuple[Tensor, ...]:
    """
    Return the indices of nonzero elements. Not available for traced tensors.
    """

def unique(x: Any) -> Tensor:
    """Return the sorted unique elements. Not available for traced tensors."""

def meshgrid(*xs: Any, indexing: str = 'xy') -> list[Tensor]:
    """Return coordinate matrices of a grid."""

class linalg:
    """Functions of numpy.linalg."""

    @staticmethod
    def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
        """
        Return the norm of vectors along an axis, or of matrices in two axes.

                Args:
                    x: the tensor; without `ord` and `axis`, its elements form one vector.
                    ord: None for the Euclidean norm, or the order as in NumPy. Those of a matrix that need singular values (2, -2, 'nuc') are not
                        available for traced tensors.
                    axis: an axis or two; default: all.
                    keepdims: whether to keep the axes, with size one.
        """

    @staticmethod
    def qr(x: Any) -> tuple[Tensor, Tensor]:
        """
        Return the QR decomposition of a matrix. Not available for traced tensors.
        """

def __getattr__(name: str) -> Any: ...

def bitwise_and(*operands: Any) -> Tensor: ...

def bitwise_not(*operands: Any) -> Tensor: ...

def invert(*operands: Any) -> Tensor: ...

def bitwise_or(*operands: Any) -> Tensor: ...
