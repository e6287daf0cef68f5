# SPDX-License-Identifier: Apache-2.0
"""Initial values of parameters and states.

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
    """An initializer times a unit; a plain number is not a unit."""
    if unit is None:
        return made
    factor = float(magnitude(1.0 * unit)) if not isinstance(unit, (int, float)) else float(unit)
    return made if factor == 1.0 else made * factor


def ZeroInit(unit: Any = None) -> Initializer:
    """Zeros."""
    return _init.constant(0.0)


def Constant(value: Any = 0.0, unit: Any = None) -> Initializer:
    """One value."""
    return _scaled(_init.constant(float(magnitude(value))), unit)


def Uniform(low: Any = 0.0, high: Any = 1.0, unit: Any = None) -> Initializer:
    """Uniform in [low, high)."""
    return _scaled(_init.uniform(float(magnitude(low)), float(magnitude(high))), unit)


def Normal(mean: Any = 0.0, std: Any = 1.0, unit: Any = None) -> Initializer:
    """Normal."""
    return _scaled(_init.normal(float(magnitude(mean)), float(magnitude(std))), unit)


def TruncatedNormal(mean: Any = 0.0, std: Any = 1.0, low: float = -2.0, high: float = 2.0, unit: Any = None) -> Initializer:
    """Normal within bounds, in standard deviations."""
    return _scaled(_init.truncated_normal(float(magnitude(mean)), float(magnitude(std)), low, high), unit)


def LogNormal(mean: float = 0.0, std: float = 1.0, unit: Any = None) -> Initializer:
    """Log-normal."""
    return _scaled(_init.log_normal(mean, std), unit)


def Exponential(scale: float = 1.0, unit: Any = None) -> Initializer:
    """Exponential."""
    return _scaled(_init.exponential(scale), unit)


def Gamma(shape: float, scale: float = 1.0, unit: Any = None) -> Initializer:
    """Gamma."""
    return _scaled(_init.gamma(shape, scale), unit)


def Weibull(shape: float, scale: float = 1.0, unit: Any = None) -> Initializer:
    """Weibull."""
    return _scaled(_init.weibull(shape, scale), unit)


def KaimingNormal(scale: float = 2.0, unit: Any = None) -> Initializer:
    """Normal, variance scale/fan_in."""
    return _scaled(_init.kaiming_normal(scale), unit)


def KaimingUniform(scale: float = 2.0, unit: Any = None) -> Initializer:
    """Uniform, variance scale/fan_in."""
    return _scaled(_init.kaiming_uniform(scale), unit)


def XavierNormal(scale: float = 1.0, unit: Any = None) -> Initializer:
    """Normal, variance scale/fan_avg."""
    return _scaled(_init.xavier_normal(scale), unit)


def XavierUniform(scale: float = 1.0, unit: Any = None) -> Initializer:
    """Uniform, variance scale/fan_avg."""
    return _scaled(_init.xavier_uniform(scale), unit)


def LecunNormal(scale: float = 1.0, unit: Any = None) -> Initializer:
    """Normal, variance scale/fan_in."""
    return _scaled(_init.lecun_normal(scale), unit)


def LecunUniform(scale: float = 1.0, unit: Any = None) -> Initializer:
    """Uniform, variance scale/fan_in."""
    return _scaled(_init.lecun_uniform(scale), unit)


def Orthogonal(gain: float = 1.0, unit: Any = None) -> Initializer:
    """Orthogonal matrix."""
    return _scaled(_init.orthogonal(gain), unit)


def DeltaOrthogonal(gain: float = 1.0) -> Initializer:
    """Orthogonal in the middle of a kernel."""
    return _init.delta_orthogonal(gain)


def Identity(gain: float = 1.0) -> Initializer:
    """Identity matrix."""
    return _init.identity(gain)


def calculate_init_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that keeps the variance through an activation."""
    import math

    slope = 0.01 if param is None else param
    known = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "leaky_relu": math.sqrt(2.0 / (1 + slope ** 2)), "selu": 0.75}
    return known.get(nonlinearity, 1.0)


def param(value: Any, sizes: Any, batch_size: int | None = None, allow_none: bool = True, **_: Any) -> Any:
    """A value of a shape: a number or array as it is, an initializer called; with a leading axis for a batch."""
    if value is None:
        if allow_none:
            return None
        raise ValueError("init.param: a value is needed, got None")
    shape = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    if callable(value):
        return value(shape if batch_size is None else (batch_size, *shape))
    return magnitude(value)


# The same names, whose results can be pickled and copied.
for _name in __all__:
    if _name not in ("Initializer", "calculate_init_gain", "names", "param"):
        globals()[_name] = _pickle.noting(globals()[_name], __name__)
