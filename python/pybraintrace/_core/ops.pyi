"""Operations on tensors, one function per operation."""

from typing import Any
from collections.abc import Callable, Sequence

import pybraintrace._core
import pybraintrace.typing


def abs(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Absolute value."""

def add(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """a + b"""

def ceil(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Least integer not below x."""

def div(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """a / b; integer division truncates and gives 0 for b = 0"""

def floor(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Largest integer not above x."""

def max(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """The larger of a and b."""

def min(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """The smaller of a and b."""

def mod(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Remainder with the sign of b; integers give 0 for b = 0."""

def mul(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """a · b"""

def neg(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """-x"""

def pow(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """
    a to the power b; integers with negative b give the truncated reciprocal
    """

def reciprocal(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """1 / x"""

def rem(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Remainder with the sign of a; integers give 0 for b = 0."""

def round(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Nearest integer, halves to the even one."""

def sign(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """-1, 0 or 1; NaN stays NaN"""

def square(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """x · x"""

def stop_gradient(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """x, held constant under differentiation"""

def sub(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """a - b"""

def acos(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Inverse cosine."""

def acosh(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Inverse hyperbolic cosine."""

def asin(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Inverse sine."""

def asinh(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Inverse hyperbolic sine."""

def atan(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Inverse tangent."""

def atan2(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Angle of the point (x, y)."""

def atanh(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Inverse hyperbolic tangent."""

def cbrt(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Cube root."""

def cos(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Cosine."""

def cosh(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Hyperbolic cosine."""

def exp(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """e to the power x"""

def exp2(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """2 to the power x"""

def expm1(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """e to the power x, minus 1, accurate near 0"""

def log(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Natural logarithm."""

def log1p(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Natural logarithm of 1 + x, accurate near 0."""

def log2(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Logarithm to base 2."""

def rsqrt(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """1 / √x"""

def sin(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Sine."""

def sinh(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Hyperbolic sine."""

def sqrt(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Square root."""

def tan(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Tangent."""

def tanh(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Hyperbolic tangent."""

def digamma(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Derivative of lgamma."""

def erf(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Error function."""

def erf_inv(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Inverse of erf."""

def erfc(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Complement of erf."""

def lgamma(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Logarithm of |Γ(x)|."""

def logit(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Inverse of sigmoid."""

def sigmoid(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Logistic function."""

def softplus(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Logarithm of 1 + e^x."""

def equal(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """a = b"""

def greater(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """a > b"""

def greater_equal(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """a ≥ b"""

def is_finite(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Neither infinite nor NaN."""

def is_inf(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Infinite."""

def is_nan(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Not a number."""

def less(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """a < b"""

def less_equal(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """a ≤ b"""

def not_equal(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """a ≠ b"""

def xor(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Either a or b but not both, bit by bit."""

def asarray(x: pybraintrace.typing.ArrayLike | None, dtype: pybraintrace.typing.DTypeLike | None = None) -> pybraintrace._core.Tensor:
    """
    Convert to a tensor, without copying NumPy arrays.

    Args:
        x: a tensor, an array, a number, or a nested sequence of numbers.
        dtype: element type of the result; by default that of `x`.
    """

def full(shape: object, fill_value: pybraintrace.typing.ArrayLike | None, dtype: pybraintrace.typing.DTypeLike | None = None) -> pybraintrace._core.Tensor:
    """Return a tensor filled with one value."""

def arange(start: float, stop: float, step: float, dtype: pybraintrace.typing.DTypeLike | None) -> pybraintrace._core.Tensor:
    """Return evenly spaced values in the half-open interval [start, stop)."""

def linspace(start: float, stop: float, num: int = 50, dtype: pybraintrace.typing.DTypeLike | None = None) -> pybraintrace._core.Tensor:
    """Return `num` evenly spaced values from start to stop, both included."""

def eye(N: int, M: int | None = None, k: int = 0, dtype: pybraintrace.typing.DTypeLike | None = None) -> pybraintrace._core.Tensor:
    """Return an N x M matrix with ones on diagonal k and zeros elsewhere."""

def one_hot(x: pybraintrace.typing.ArrayLike | None, num_classes: int, dtype: pybraintrace.typing.DTypeLike | None = None) -> pybraintrace._core.Tensor:
    """One-hot encode integer indices along a new last axis."""

def tril(x: pybraintrace.typing.ArrayLike | None, k: int = 0) -> pybraintrace._core.Tensor:
    """Return the lower triangle: zeros above diagonal k."""

def triu(x: pybraintrace.typing.ArrayLike | None, k: int = 0) -> pybraintrace._core.Tensor:
    """Return the upper triangle: zeros below diagonal k."""

def broadcast_to(x: pybraintrace.typing.ArrayLike | None, shape: int | Sequence[int] | None) -> pybraintrace._core.Tensor:
    """Broadcast to a shape."""

def expand_dims(x: pybraintrace.typing.ArrayLike | None, axis: int | Sequence[int] | None) -> pybraintrace._core.Tensor:
    """Insert axes of size one."""

def concat(arrays: object, axis: int | None = 0) -> pybraintrace._core.Tensor:
    """Concatenate arrays along an existing axis; None flattens them first."""

def stack(arrays: object, axis: int = 0) -> pybraintrace._core.Tensor:
    """Stack arrays along a new axis."""

def split(x: pybraintrace.typing.ArrayLike | None, indices_or_sections: object, axis: int = 0) -> list[pybraintrace._core.Tensor]:
    """Split along an axis, into equal sections or at the given indices."""

def flip(x: pybraintrace.typing.ArrayLike | None, axis: int | Sequence[int] | None | None = None) -> pybraintrace._core.Tensor:
    """Reverse the order of elements along axes; None means all."""

def roll(x: pybraintrace.typing.ArrayLike | None, shift: int, axis: int | None = None) -> pybraintrace._core.Tensor:
    """Roll elements along an axis; None rolls the flattened tensor."""

def pad(x: pybraintrace.typing.ArrayLike | None, pad_width: Sequence[tuple[int, int]], constant_values: pybraintrace.typing.ArrayLike | None = 0.0) -> pybraintrace._core.Tensor:
    """
    Pad with a constant.

    Args:
        x: the tensor.
        pad_width: (before, after) for each axis.
        constant_values: the padding value.
    """

def moveaxis(x: pybraintrace.typing.ArrayLike | None, source: int, destination: int) -> pybraintrace._core.Tensor:
    """Move an axis to a new position."""

def where(condition: pybraintrace.typing.ArrayLike | None, x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """
    Return elements of `x` where the condition is true, and of `y` elsewhere.
    """

def take_along_axis(x: pybraintrace.typing.ArrayLike | None, indices: pybraintrace.typing.ArrayLike | None, axis: int) -> pybraintrace._core.Tensor:
    """Select one element along an axis for each index."""

def top_k(x: pybraintrace.typing.ArrayLike | None, k: int) -> tuple:
    """Return the k largest elements along the last axis, and their indices."""

def softmax(x: pybraintrace.typing.ArrayLike | None, axis: int | Sequence[int] | None | None = -1) -> pybraintrace._core.Tensor:
    """Softmax along axes: exp(x) / sum(exp(x))."""

def log_softmax(x: pybraintrace.typing.ArrayLike | None, axis: int | Sequence[int] | None | None = -1) -> pybraintrace._core.Tensor:
    """Logarithm of the softmax along axes."""

def logsumexp(x: pybraintrace.typing.ArrayLike | None, axis: int | Sequence[int] | None | None = None, keepdims: bool = False) -> pybraintrace._core.Tensor:
    """Logarithm of the sum of exponentials: log(sum(exp(x)))."""

def cummax(x: pybraintrace.typing.ArrayLike | None, axis: int = 0) -> pybraintrace._core.Tensor:
    """Return the cumulative maximum along an axis."""

def cummin(x: pybraintrace.typing.ArrayLike | None, axis: int = 0) -> pybraintrace._core.Tensor:
    """Return the cumulative minimum along an axis."""

def plain_einsum(equation: str, *operands) -> pybraintrace._core.Tensor:
    """
    Evaluate an Einstein summation. Operands get the gradient of the current step only.
    """

def dot(x: pybraintrace.typing.ArrayLike | None, w: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """
    Return the matrix product. `w` gets the gradient of the current step only; use `matmul` to learn it online.
    """

def relu(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """max(x, 0)."""

def relu6(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """min(max(x, 0), 6)."""

def selu(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Scaled exponential linear unit."""

def silu(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Sigmoid linear unit: x sigmoid(x)."""

def hard_sigmoid(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Piecewise linear sigmoid: relu6(x + 3) / 6."""

def hard_silu(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """x hard_sigmoid(x)."""

def hard_tanh(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Piecewise linear tanh: x limited to [-1, 1]."""

def log_sigmoid(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Logarithm of the sigmoid."""

def celu(x: pybraintrace.typing.ArrayLike | None, alpha: float = 1.0) -> pybraintrace._core.Tensor:
    """
    Continuously differentiable ELU: x where x > 0, else alpha (exp(x/alpha) - 1).
    """

def elu(x: pybraintrace.typing.ArrayLike | None, alpha: float = 1.0) -> pybraintrace._core.Tensor:
    """Exponential linear unit: x where x > 0, else alpha (exp(x) - 1)."""

def leaky_relu(x: pybraintrace.typing.ArrayLike | None, negative_slope: float = 0.01) -> pybraintrace._core.Tensor:
    """Leaky ReLU: x where x > 0, else negative_slope x."""

def gelu(x: pybraintrace.typing.ArrayLike | None, approximate: bool = True) -> pybraintrace._core.Tensor:
    """
    Gaussian error linear unit: x Phi(x), Phi the normal distribution function; `approximate` uses tanh.
    """

def matmul(x: pybraintrace.typing.ArrayLike | None, weight: pybraintrace.typing.ArrayLike | None, bias: pybraintrace.typing.ArrayLike | None = None, *, weight_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, bias_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None) -> pybraintrace._core.Tensor:
    """
    Matrix product y = x W + b, whose weight and bias learn online.

    Args:
        x: input, [I] or [B, I].
        weight: [I, O].
        bias: [O], or None.
        weight_fn: function applied to the weight before the product.
        bias_fn: function applied to the bias.

    Returns:
        [O] or [B, O].
    """

def grouped_matmul(x: pybraintrace.typing.ArrayLike | None, weight: pybraintrace.typing.ArrayLike | None, bias: pybraintrace.typing.ArrayLike | None = None, *, weight_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, bias_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None) -> pybraintrace._core.Tensor:
    """
    Matrix products of several groups, y_g = x_g W_g + b_g, whose weights and biases learn online.

    Args:
        x: [G, I] or [B, G, I].
        weight: [G, I, O].
        bias: [G, O], or None.
        weight_fn: function applied to the weight.
        bias_fn: function applied to the bias.
    """

def element_wise(weight: pybraintrace.typing.ArrayLike | None, fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, *, weight_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None) -> pybraintrace._core.Tensor:
    """
    Return a weight with one value per position of a hidden state, such as a threshold or time constant; it learns online.

    Args:
        weight: shared along axes of the state that it lacks or that have size one.
        fn: function applied to the weight.
        weight_fn: another name of `fn`; give only one of them.
    """

def conv(x: pybraintrace.typing.ArrayLike | None, kernel: pybraintrace.typing.ArrayLike | None, bias: pybraintrace.typing.ArrayLike | None = None, *, strides: int | Sequence[int] | None = None, padding: object = 'SAME', lhs_dilation: int | Sequence[int] | None = None, rhs_dilation: int | Sequence[int] | None = None, feature_group_count: int = 1, dimension_numbers: str = '', kernel_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, bias_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None) -> pybraintrace._core.Tensor:
    """
    Convolution (cross-correlation) whose kernel and bias learn online.

    Args:
        x: input in the layout given by `dimension_numbers`; the batch axis is optional.
        kernel: the kernel, in the same layout.
        bias: [O], or an array that broadcasts to the output, or None.
        strides: one number, or one per spatial axis.
        padding: 'SAME', 'VALID', a number, or (before, after) per spatial axis.
        lhs_dilation: dilation of the input.
        rhs_dilation: dilation of the kernel.
        feature_group_count: number of channel groups.
        dimension_numbers: layout such as 'NHWC,HWIO->NHWC'; default: channels first, 'NCHW,OIHW->NCHW'.
        kernel_fn: function applied to the kernel.
        bias_fn: function applied to the bias.
    """

def sparse_matmul(x: pybraintrace.typing.ArrayLike | None, weight: pybraintrace.typing.ArrayLike | None, *, sparse_mat: object, bias: pybraintrace.typing.ArrayLike | None = None, weight_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, bias_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None) -> pybraintrace._core.Tensor:
    """
    Product y = x W + b with a sparse W, whose stored values learn online.

    Args:
        x: [I] or [B, I].
        weight: the stored values, [entries].
        sparse_mat: a SparsePattern, or a SciPy matrix in CSR or COO format.
        bias: [O], or None.
        weight_fn: function applied to the values.
        bias_fn: function applied to the bias.
    """

def lora_matmul(x: pybraintrace.typing.ArrayLike | None, B: pybraintrace.typing.ArrayLike | None, A: pybraintrace.typing.ArrayLike | None, *, alpha: float = 1.0, bias: pybraintrace.typing.ArrayLike | None = None, b_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, a_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, bias_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None) -> pybraintrace._core.Tensor:
    """
    Low-rank product y = alpha x B A + b, whose factors and bias learn online.

    Args:
        x: [I] or [N, I].
        B: [I, R].
        A: [R, O].
        alpha: scale.
        bias: [O], or None.
        b_fn: function applied to B.
        a_fn: function applied to A.
        bias_fn: function applied to the bias.
    """

def embedding(indices: pybraintrace.typing.ArrayLike | None, weight: pybraintrace.typing.ArrayLike | None, *, weight_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None) -> pybraintrace._core.Tensor:
    """
    Look up rows of a table that learns online.

    Args:
        indices: integers of any shape.
        weight: the table, [rows, features].
        weight_fn: function applied to the table.
    """

def einsum(equation: str, x: pybraintrace.typing.ArrayLike | None, weight: pybraintrace.typing.ArrayLike | None, *, weight_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None) -> pybraintrace._core.Tensor:
    """
    Einstein summation of an input and a weight that learns online, such as einsum('bi,io->bo', x, weight).

    Args:
        equation: the first letter of the input and of the result is the batch axis.
        x: the input.
        weight: the weight.
        weight_fn: function applied to the weight.
    """

def seed(seed: int) -> None:
    """Seed the global stream of random numbers."""

def default_stream() -> Any:
    """Return the global stream of random numbers, a RandomState."""

def next_key() -> pybraintrace._core.Tensor:
    """Return a fresh key of the global stream."""

def random_key(seed: int) -> pybraintrace._core.Tensor:
    """Return the key of a seed."""

def split_key(key: pybraintrace.typing.ArrayLike | None, num: int = 2) -> pybraintrace._core.Tensor:
    """Derive `num` new keys from a key."""

def random_uniform(key: pybraintrace.typing.ArrayLike | None, shape: object, minval: pybraintrace.typing.ArrayLike | None = 0.0, maxval: pybraintrace.typing.ArrayLike | None = 1.0, dtype: pybraintrace.typing.DTypeLike | None = None) -> pybraintrace._core.Tensor:
    """Draw uniformly from [minval, maxval)."""

def random_normal(key: pybraintrace.typing.ArrayLike | None, shape: object, dtype: pybraintrace.typing.DTypeLike | None = None) -> pybraintrace._core.Tensor:
    """Draw from the standard normal distribution."""

def random_truncated_normal(key: pybraintrace.typing.ArrayLike | None, lower: float, upper: float, shape: object, dtype: pybraintrace.typing.DTypeLike | None = None) -> pybraintrace._core.Tensor:
    """
    Draw from the standard normal distribution, truncated to [lower, upper].
    """

def random_bernoulli(key: pybraintrace.typing.ArrayLike | None, p: pybraintrace.typing.ArrayLike | None = 0.5, shape: int | Sequence[int] | None = None) -> pybraintrace._core.Tensor:
    """Draw booleans that are true with probability p."""

def random_randint(key: pybraintrace.typing.ArrayLike | None, shape: object, minval: int, maxval: int) -> pybraintrace._core.Tensor:
    """Draw integers uniformly from [minval, maxval)."""

def random_categorical(key: pybraintrace.typing.ArrayLike | None, logits: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Draw indices with probabilities softmax(logits) along the last axis."""

def random_permutation(key: pybraintrace.typing.ArrayLike | None, x: object) -> pybraintrace._core.Tensor:
    """Permute range(x) for an integer x, or the rows of x."""

def random_exponential(key: pybraintrace.typing.ArrayLike | None, shape: object) -> pybraintrace._core.Tensor:
    """Draw from the standard exponential distribution."""

def random_gamma(key: pybraintrace.typing.ArrayLike | None, a: float, shape: object) -> pybraintrace._core.Tensor:
    """Draw from the gamma distribution with shape parameter a and scale 1."""
