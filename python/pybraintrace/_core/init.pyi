"""Initializers of parameters and states."""

from collections.abc import Sequence

import pybraintrace._core
from pybraintrace._pickle import _reduce_made as __reduce__
import pybraintrace.typing


class Initializer:
    """
    A function from a shape to an initial value. Initializers can be added, subtracted, multiplied and divided.
    """

    def __call__(self, shape: int | Sequence[int] | None, *args, **kwargs) -> pybraintrace._core.Tensor:
        """Return a new value of the given shape."""

    def __repr__(self) -> str: ...

    def clip(self, lo: float, hi: float) -> Initializer:
        """Return an initializer whose values are limited to [lo, hi]."""

    def __add__(self, other: pybraintrace.typing.InitializerLike) -> Initializer: ...

    def __sub__(self, other: pybraintrace.typing.InitializerLike) -> Initializer: ...

    def __mul__(self, other: pybraintrace.typing.InitializerLike) -> Initializer: ...

    def __rmul__(self, other: pybraintrace.typing.InitializerLike) -> Initializer: ...

    def __truediv__(self, other: pybraintrace.typing.InitializerLike) -> Initializer: ...

def initializer(value: pybraintrace.typing.InitializerLike | None) -> Initializer:
    """
    Convert a number, an array, a name, or a function of the shape to an initializer.
    """

def names() -> list[str]:
    """Return the names of the known initializers."""

def constant(value: float) -> Initializer:
    """Fill with one value."""

def uniform(low: float = 0.0, high: float = 1.0) -> Initializer:
    """Draw uniformly from [low, high)."""

def normal(mean: float = 0.0, std: float = 1.0) -> Initializer:
    """Draw from a normal distribution."""

def truncated_normal(mean: float = 0.0, std: float = 1.0, low: float = -2.0, high: float = 2.0) -> Initializer:
    """
    Draw from a truncated normal distribution; `low` and `high` are in standard deviations.
    """

def log_normal(mean: float = 0.0, std: float = 1.0) -> Initializer:
    """Draw from a log-normal distribution."""

def exponential(scale: float = 1.0) -> Initializer:
    """Draw from an exponential distribution."""

def gamma(shape: float, scale: float = 1.0) -> Initializer:
    """Draw from a gamma distribution."""

def beta(a: float, b: float) -> Initializer:
    """Draw from a beta distribution."""

def weibull(shape: float, scale: float = 1.0) -> Initializer:
    """Draw from a Weibull distribution."""

def identity(gain: float = 1.0) -> Initializer:
    """Return a multiple of the identity matrix."""

def orthogonal(gain: float = 1.0) -> Initializer:
    """Draw a random orthogonal matrix."""

def delta_orthogonal(gain: float = 1.0) -> Initializer:
    """
    Draw a convolution kernel that is orthogonal at its center and zero elsewhere.
    """

def kaiming_normal(scale: float = 2.0) -> Initializer:
    """Draw from a normal distribution with variance scale/fan_in."""

def kaiming_uniform(scale: float = 2.0) -> Initializer:
    """Draw from a uniform distribution with variance scale/fan_in."""

def xavier_normal(scale: float = 1.0) -> Initializer:
    """Draw from a normal distribution with variance scale/fan_avg."""

def xavier_uniform(scale: float = 1.0) -> Initializer:
    """Draw from a uniform distribution with variance scale/fan_avg."""

def lecun_normal(scale: float = 1.0) -> Initializer:
    """Draw from a normal distribution with variance scale/fan_in."""

def lecun_uniform(scale: float = 1.0) -> Initializer:
    """Draw from a uniform distribution with variance scale/fan_in."""
