"""Operations on tensors, one function each."""

from collections.abc import Callable, Sequence

import pybraintrace._core
import pybraintrace.typing


def abs(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """absolute value"""

def add(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """a + b"""

def ceil(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """least integer not below x"""

def div(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """a / b; integer division truncates and gives 0 for b = 0"""

def floor(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """largest integer not above x"""

def max(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """the larger of a and b"""

def min(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """the smaller of a and b"""

def mod(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """remainder with the sign of b; integers give 0 for b = 0"""

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
    """remainder with the sign of a; integers give 0 for b = 0"""

def round(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """nearest integer, halves to the even one"""

def sign(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """-1, 0 or 1; NaN stays NaN"""

def square(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """x · x"""

def stop_gradient(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """x, held constant under differentiation"""

def sub(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """a - b"""

def acos(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """inverse cosine"""

def acosh(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """inverse hyperbolic cosine"""

def asin(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """inverse sine"""

def asinh(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """inverse hyperbolic sine"""

def atan(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """inverse tangent"""

def atan2(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """angle of the point (x, y)"""

def atanh(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """inverse hyperbolic tangent"""

def cbrt(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """cube root"""

def cos(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """cosine"""

def cosh(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """hyperbolic cosine"""

def exp(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """e to the power x"""

def exp2(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """2 to the power x"""

def expm1(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """e to the power x, minus 1, accurate near 0"""

def log(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """natural logarithm"""

def log1p(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """natural logarithm of 1 + x, accurate near 0"""

def log2(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """logarithm to base 2"""

def rsqrt(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """1 / √x"""

def sin(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """sine"""

def sinh(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """hyperbolic sine"""

def sqrt(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """square root"""

def tan(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """tangent"""

def tanh(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """hyperbolic tangent"""

def digamma(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """derivative of lgamma"""

def erf(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """error function"""

def erf_inv(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """inverse of erf"""

def erfc(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """complement of erf"""

def lgamma(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """logarithm of |Γ(x)|"""

def logit(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """inverse of sigmoid"""

def sigmoid(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """logistic function"""

def softplus(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """logarithm of 1 + e^x"""

def equal(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """a = b"""

def greater(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """a > b"""

def greater_equal(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """a ≥ b"""

def is_finite(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """neither infinite nor NaN"""

def is_inf(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """infinite"""

def is_nan(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """not a number"""

def less(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """a < b"""

def less_equal(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """a ≤ b"""

def not_equal(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """a ≠ b"""

def xor(x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """either a or b but not both, bit by bit"""

def asarray(x: pybraintrace.typing.ArrayLike | None, dtype: pybraintrace.typing.DTypeLike | None = None) -> pybraintrace._core.Tensor:
    """A tensor with these elements; shares the memory of NumPy arrays."""

def full(shape: object, fill_value: pybraintrace.typing.ArrayLike | None, dtype: pybraintrace.typing.DTypeLike | None = None) -> pybraintrace._core.Tensor:
    """One value everywhere."""

def arange(start: float, stop: float, step: float, dtype: pybraintrace.typing.DTypeLike | None) -> pybraintrace._core.Tensor: ...

def linspace(start: float, stop: float, num: int = 50, dtype: pybraintrace.typing.DTypeLike | None = None) -> pybraintrace._core.Tensor:
    """Numbers evenly from start to stop, both included."""

def eye(N: int, M: int | None = None, k: int = 0, dtype: pybraintrace.typing.DTypeLike | None = None) -> pybraintrace._core.Tensor:
    """One on a diagonal, else zero."""

def one_hot(x: pybraintrace.typing.ArrayLike | None, num_classes: int, dtype: pybraintrace.typing.DTypeLike | None = None) -> pybraintrace._core.Tensor:
    """A new last axis with one at the index."""

def tril(x: pybraintrace.typing.ArrayLike | None, k: int = 0) -> pybraintrace._core.Tensor:
    """Zero above diagonal k."""

def triu(x: pybraintrace.typing.ArrayLike | None, k: int = 0) -> pybraintrace._core.Tensor:
    """Zero below diagonal k."""

def broadcast_to(x: pybraintrace.typing.ArrayLike | None, shape: int | Sequence[int] | None) -> pybraintrace._core.Tensor:
    """Repeated to a shape."""

def expand_dims(x: pybraintrace.typing.ArrayLike | None, axis: int | Sequence[int] | None) -> pybraintrace._core.Tensor:
    """New axes of size one."""

def concat(arrays: object, axis: int | None = 0) -> pybraintrace._core.Tensor:
    """Joined along an axis."""

def stack(arrays: object, axis: int = 0) -> pybraintrace._core.Tensor:
    """Joined along a new axis."""

def split(x: pybraintrace.typing.ArrayLike | None, indices_or_sections: object, axis: int = 0) -> list[pybraintrace._core.Tensor]:
    """Cut along an axis."""

def flip(x: pybraintrace.typing.ArrayLike | None, axis: int | Sequence[int] | None | None = None) -> pybraintrace._core.Tensor:
    """Backwards along axes."""

def roll(x: pybraintrace.typing.ArrayLike | None, shift: int, axis: int | None = None) -> pybraintrace._core.Tensor:
    """Elements moved along, around the end."""

def pad(x: pybraintrace.typing.ArrayLike | None, pad_width: Sequence[tuple[int, int]], constant_values: pybraintrace.typing.ArrayLike | None = 0.0) -> pybraintrace._core.Tensor:
    """Values before and after, per axis."""

def moveaxis(x: pybraintrace.typing.ArrayLike | None, source: int, destination: int) -> pybraintrace._core.Tensor:
    """One axis at another place."""

def where(condition: pybraintrace.typing.ArrayLike | None, x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """x where the condition holds, else y."""

def take_along_axis(x: pybraintrace.typing.ArrayLike | None, indices: pybraintrace.typing.ArrayLike | None, axis: int) -> pybraintrace._core.Tensor:
    """One element per index along an axis."""

def top_k(x: pybraintrace.typing.ArrayLike | None, k: int) -> tuple:
    """The k largest elements of the last axis, and their positions."""

def softmax(x: pybraintrace.typing.ArrayLike | None, axis: int | Sequence[int] | None | None = -1) -> pybraintrace._core.Tensor:
    """e^x / sum of e^x."""

def log_softmax(x: pybraintrace.typing.ArrayLike | None, axis: int | Sequence[int] | None | None = -1) -> pybraintrace._core.Tensor:
    """Logarithm of softmax."""

def logsumexp(x: pybraintrace.typing.ArrayLike | None, axis: int | Sequence[int] | None | None = None, keepdims: bool = False) -> pybraintrace._core.Tensor:
    """ln of the sum of e^x."""

def cummax(x: pybraintrace.typing.ArrayLike | None, axis: int = 0) -> pybraintrace._core.Tensor:
    """Running maximum."""

def cummin(x: pybraintrace.typing.ArrayLike | None, axis: int = 0) -> pybraintrace._core.Tensor:
    """Running minimum."""

def plain_einsum(equation: str, *operands) -> pybraintrace._core.Tensor:
    """Products and sums with one letter per axis."""

def dot(x: pybraintrace.typing.ArrayLike | None, w: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """The plain product: w does not learn online."""

def relu(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Activation function, element by element."""

def relu6(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Activation function, element by element."""

def selu(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Activation function, element by element."""

def silu(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Activation function, element by element."""

def hard_sigmoid(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Activation function, element by element."""

def hard_silu(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Activation function, element by element."""

def hard_tanh(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Activation function, element by element."""

def log_sigmoid(x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Activation function, element by element."""

def celu(x: pybraintrace.typing.ArrayLike | None, alpha: float = 1.0) -> pybraintrace._core.Tensor:
    """x where x > 0, else alpha (e^(x/alpha) - 1)."""

def elu(x: pybraintrace.typing.ArrayLike | None, alpha: float = 1.0) -> pybraintrace._core.Tensor:
    """x where x > 0, else alpha (e^x - 1)."""

def leaky_relu(x: pybraintrace.typing.ArrayLike | None, negative_slope: float = 0.01) -> pybraintrace._core.Tensor:
    """x where x > 0, else slope x."""

def gelu(x: pybraintrace.typing.ArrayLike | None, approximate: bool = True) -> pybraintrace._core.Tensor:
    """x Phi(x)."""

def matmul(x: pybraintrace.typing.ArrayLike | None, weight: pybraintrace.typing.ArrayLike | None, bias: pybraintrace.typing.ArrayLike | None = None, *, weight_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, bias_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None) -> pybraintrace._core.Tensor:
    """
    y = x W + b; W and b learn online.

    x: [I] or [B,I], W: [I,O], b: [O].
    """

def grouped_matmul(x: pybraintrace.typing.ArrayLike | None, weight: pybraintrace.typing.ArrayLike | None, bias: pybraintrace.typing.ArrayLike | None = None, *, weight_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, bias_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None) -> pybraintrace._core.Tensor:
    """y_g = x_g W_g + b_g, products side by side that learn online."""

def element_wise(weight: pybraintrace.typing.ArrayLike | None, fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, *, weight_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None) -> pybraintrace._core.Tensor:
    """y = fn(w), one value per position of a hidden state; w learns online."""

def conv(x: pybraintrace.typing.ArrayLike | None, kernel: pybraintrace.typing.ArrayLike | None, bias: pybraintrace.typing.ArrayLike | None = None, *, strides: int | Sequence[int] | None = None, padding: object = 'SAME', lhs_dilation: int | Sequence[int] | None = None, rhs_dilation: int | Sequence[int] | None = None, feature_group_count: int = 1, dimension_numbers: str = '', kernel_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, bias_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None) -> pybraintrace._core.Tensor:
    """Cross-correlation whose kernel and bias learn online."""

def sparse_matmul(x: pybraintrace.typing.ArrayLike | None, weight: pybraintrace.typing.ArrayLike | None, *, sparse_mat: object, bias: pybraintrace.typing.ArrayLike | None = None, weight_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, bias_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None) -> pybraintrace._core.Tensor:
    """
    y = x W + b with a sparse W; its stored values learn online.

    sparse_mat: SparsePattern, or a SciPy matrix in CSR or COO form.
    """

def lora_matmul(x: pybraintrace.typing.ArrayLike | None, B: pybraintrace.typing.ArrayLike | None, A: pybraintrace.typing.ArrayLike | None, *, alpha: float = 1.0, bias: pybraintrace.typing.ArrayLike | None = None, b_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, a_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, bias_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None) -> pybraintrace._core.Tensor:
    """y = alpha x B A + b, a product of low rank; B, A and b learn online."""

def embedding(indices: pybraintrace.typing.ArrayLike | None, weight: pybraintrace.typing.ArrayLike | None, *, weight_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None) -> pybraintrace._core.Tensor:
    """Rows of a table that learns online."""

def einsum(equation: str, x: pybraintrace.typing.ArrayLike | None, weight: pybraintrace.typing.ArrayLike | None, *, weight_fn: Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None) -> pybraintrace._core.Tensor:
    """A product with named axes whose weight learns online."""

def seed(seed: int) -> None:
    """Starts the stream of random numbers anew."""

def default_stream() -> object:
    """The stream of random numbers, a state."""

def next_key() -> pybraintrace._core.Tensor:
    """A fresh key of the stream."""

def random_key(seed: int) -> pybraintrace._core.Tensor:
    """A key of its own."""

def split_key(key: pybraintrace.typing.ArrayLike | None, num: int = 2) -> pybraintrace._core.Tensor:
    """Keys from a key."""

def random_uniform(key: pybraintrace.typing.ArrayLike | None, shape: object, minval: pybraintrace.typing.ArrayLike | None = 0.0, maxval: pybraintrace.typing.ArrayLike | None = 1.0, dtype: pybraintrace.typing.DTypeLike | None = None) -> pybraintrace._core.Tensor: ...

def random_normal(key: pybraintrace.typing.ArrayLike | None, shape: object, dtype: pybraintrace.typing.DTypeLike | None = None) -> pybraintrace._core.Tensor: ...

def random_truncated_normal(key: pybraintrace.typing.ArrayLike | None, lower: float, upper: float, shape: object, dtype: pybraintrace.typing.DTypeLike | None = None) -> pybraintrace._core.Tensor: ...

def random_bernoulli(key: pybraintrace.typing.ArrayLike | None, p: pybraintrace.typing.ArrayLike | None = 0.5, shape: int | Sequence[int] | None = None) -> pybraintrace._core.Tensor: ...

def random_randint(key: pybraintrace.typing.ArrayLike | None, shape: object, minval: int, maxval: int) -> pybraintrace._core.Tensor: ...

def random_categorical(key: pybraintrace.typing.ArrayLike | None, logits: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor: ...

def random_permutation(key: pybraintrace.typing.ArrayLike | None, x: object) -> pybraintrace._core.Tensor: ...

def random_exponential(key: pybraintrace.typing.ArrayLike | None, shape: object) -> pybraintrace._core.Tensor: ...

def random_gamma(key: pybraintrace.typing.ArrayLike | None, a: float, shape: object) -> pybraintrace._core.Tensor: ...
