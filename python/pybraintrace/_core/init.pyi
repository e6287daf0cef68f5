"""Initial values of parameters and states."""

from collections.abc import Sequence

import pybraintrace._core
from pybraintrace._pickle import _reduce_made as __reduce__
import pybraintrace.typing


class Initializer:
    """Makes a first value of a given shape."""

    def __call__(self, shape: int | Sequence[int] | None, *args, **kwargs) -> pybraintrace._core.Tensor:
        """A new value."""

    def __repr__(self) -> str: ...

    def clip(self, lo: float, hi: float) -> Initializer:
        """Limited to [lo, hi]."""

    def __add__(self, other: pybraintrace.typing.InitializerLike) -> Initializer: ...

    def __sub__(self, other: pybraintrace.typing.InitializerLike) -> Initializer: ...

    def __mul__(self, other: pybraintrace.typing.InitializerLike) -> Initializer: ...

    def __rmul__(self, other: pybraintrace.typing.InitializerLike) -> Initializer: ...

    def __truediv__(self, other: pybraintrace.typing.InitializerLike) -> Initializer: ...

def initializer(value: pybraintrace.typing.InitializerLike | None) -> Initializer:
    """
    An initializer from a number, an array, a name or a function of the shape.
    """

def names() -> list[str]:
    """Names that stand for initializers."""

def constant(value: float) -> Initializer:
    """One value."""

def uniform(low: float = 0.0, high: float = 1.0) -> Initializer:
    """Uniform in [low, high)."""

def normal(mean: float = 0.0, std: float = 1.0) -> Initializer:
    """Normal."""

def truncated_normal(mean: float = 0.0, std: float = 1.0, low: float = -2.0, high: float = 2.0) -> Initializer:
    """Normal within bounds, in standard deviations."""

def log_normal(mean: float = 0.0, std: float = 1.0) -> Initializer:
    """Log-normal."""

def exponential(scale: float = 1.0) -> Initializer:
    """Exponential."""

def gamma(shape: float, scale: float = 1.0) -> Initializer:
    """Gamma."""

def beta(a: float, b: float) -> Initializer:
    """Beta."""

def weibull(shape: float, scale: float = 1.0) -> Initializer:
    """Weibull."""

def identity(gain: float = 1.0) -> Initializer:
    """Identity matrix."""

def orthogonal(gain: float = 1.0) -> Initializer:
    """Orthogonal matrix."""

def delta_orthogonal(gain: float = 1.0) -> Initializer:
    """Orthogonal in the middle of a kernel."""

def kaiming_normal(scale: float = 2.0) -> Initializer:
    """Normal, variance scale/fan_in."""

def kaiming_uniform(scale: float = 2.0) -> Initializer:
    """Uniform, variance scale/fan_in."""

def xavier_normal(scale: float = 1.0) -> Initializer:
    """Normal, variance scale/fan_avg."""

def xavier_uniform(scale: float = 1.0) -> Initializer:
    """Uniform, variance scale/fan_avg."""

def lecun_normal(scale: float = 1.0) -> Initializer:
    """Normal, variance scale/fan_in."""

def lecun_uniform(scale: float = 1.0) -> Initializer:
    """Uniform, variance scale/fan_in."""
