# SPDX-License-Identifier: Apache-2.0
"""Initializers of parameters and states.

>>> from pybraintrace import init
>>> init.ZeroInit()((2,)).tolist()
[0.0, 0.0]
"""

from __future__ import annotations

from typing import Any

from . import _core, _pickle
from ._core.init import Initializer, initializer, names
from .units import magnitude

_init = _core.init
__all__ = ["Constant", "DeltaOrthogonal", "Exponential", "Gamma", "Identity", "Initializer", "KaimingNormal", "KaimingUniform",
           "LecunNormal", "LecunUniform", "LogNormal", "Normal", "Orthogonal", "TruncatedNormal", "Uniform", "Weibull", "XavierNormal",
           "XavierUniform", "ZeroInit", "calculate_init_gain", "initializer", "names", "param"]


def _scaled(made: Initializer, unit: Any) -> Initializer:
    """Multiply an initializer by a unit or a factor."""
    if unit is None:
        return made
    factor = float(magnitude(1.0 * unit)) if not isinstance(unit, (int, float)) else float(unit)
    return made if factor == 1.0 else made * factor


def ZeroInit(unit: Any = None) -> Initializer:
    """Fill with zeros."""
    return _init.constant(0.0)


def Constant(value: Any = 0.0, unit: Any = None) -> Initializer:
    """Fill with one value."""
    return _scaled(_init.constant(float(magnitude(value))), unit)


def Uniform(low: Any = 0.0, high: Any = 1.0, unit: Any = None) -> Initializer:
    """Draw uniformly from [low, high)."""
    return _scaled(_init.uniform(float(magnitude(low)), float(magnitude(high))), unit)


def Normal(mean: Any = 0.0, std: Any = 1.0, unit: Any = None) -> Initializer:
    """Draw from a normal distribution."""
    return _scaled(_init.normal(float(magnitude(mean)), float(magnitude(std))), unit)


def TruncatedNormal(mean: Any = 0.0, std: Any = 1.0, low: float = -2.0, high: float = 2.0, unit: Any = None) -> Initializer:
    """Draw from a truncated normal distribution; `low` and `high` are in standard deviations."""
    return _scaled(_init.truncated_normal(float(magnitude(mean)), float(magnitude(std)), low, high), unit)


def LogNormal(mean: float = 0.0, std: float = 1.0, unit: Any = None) -> Initializer:
    """Draw from a log-normal distribution."""
    return _scaled(_init.log_normal(mean, std), unit)


def Exponential(scale: float = 1.0, unit: Any = None) -> Initializer:
    """Draw from an exponential distribution."""
    return _scaled(_init.exponential(scale), unit)


def Gamma(shape: float, scale: float = 1.0, unit: Any = None) -> Initializer:
    """Draw from a gamma distribution."""
    return _scaled(_init.gamma(shape, scale), unit)


def Weibull(shape: float, scale: float = 1.0, unit: Any = None) -> Initializer:
    """Draw from a Weibull distribution."""
    return _scaled(_init.weibull(shape, scale), unit)


def KaimingNormal(scale: float = 2.0, unit: Any = None) -> Initializer:
    """Draw from a normal distribution with variance scale/fan_in."""
    return _scaled(_init.kaiming_normal(scale), unit)


def KaimingUniform(scale: float = 2.0, unit: Any = None) -> Initializer:
    """Draw from a uniform distribution with variance scale/fan_in."""
    return _scaled(_init.kaiming_uniform(scale), unit)


def XavierNormal(scale: float = 1.0, unit: Any = None) -> Initializer:
    """Draw from a normal distribution with variance scale/fan_avg."""
    return _scaled(_init.xavier_normal(scale), unit)


def XavierUniform(scale: float = 1.0, unit: Any = None) -> Initializer:
    """Draw from a uniform distribution with variance scale/fan_avg."""
    return _scaled(_init.xavier_uniform(scale), unit)


def LecunNormal(scale: float = 1.0, unit: Any = None) -> Initializer:
    """Draw from a normal distribution with variance scale/fan_in."""
    return _scaled(_init.lecun_normal(scale), unit)


def LecunUniform(scale: float = 1.0, unit: Any = None) -> Initializer:
    """Draw from a uniform distribution with variance scale/fan_in."""
    return _scaled(_init.lecun_uniform(scale), unit)


def Orthogonal(gain: float = 1.0, unit: Any = None) -> Initializer:
    """Draw a random orthogonal matrix."""
    return _scaled(_init.orthogonal(gain), unit)


def DeltaOrthogonal(gain: float = 1.0) -> Initializer:
    """Draw a convolution kernel that is orthogonal at its center and zero elsewhere."""
    return _init.delta_orthogonal(gain)


def Identity(gain: float = 1.0) -> Initializer:
    """Return a multiple of the identity matrix."""
    return _init.identity(gain)


def calculate_init_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the gain that preserves the variance through an activation; 1 for unknown names."""
    import math

    slope = 0.01 if param is None else param
    known = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "leaky_relu": math.sqrt(2.0 / (1 + slope ** 2)), "selu": 0.75}
    return known.get(nonlinearity, 1.0)


def param(value: Any, sizes: Any, batch_size: int | None = None, allow_none: bool = True, **_: Any) -> Any:
    """Return an initial value.

    Args:
        value: a number or array, which is returned unchanged, or an initializer, which is called.
        sizes: shape of one sample.
        batch_size: size of an additional leading axis.
        allow_none: return None for None; otherwise this is an error.
    """
    if value is None:
        if allow_none:
            return None
        raise ValueError("init.param: expected a value, got None")
    shape = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    if callable(value):
        return value(shape if batch_size is None else (batch_size, *shape))
    return magnitude(value)


# Replace the names by versions whose results can be pickled and copied.
for _name in __all__:
    if _name not in ("Initializer", "calculate_init_gain", "names", "param"):
        globals()[_name] = _pickle.noting(globals()[_name], __name__)
