# SPDX-License-Identifier: Apache-2.0
"""`braintools`: optimizers, initializers, losses, surrogates."""

import inspect
import math
from types import SimpleNamespace
from typing import Any

from .. import init as _init, metric, optim as _optim, surrogate as _surrogate
from ..units import magnitude


def _get_figure(row_num: int, col_num: int, row_len: float = 3.0, col_len: float = 6.0) -> Any:
    import matplotlib.pyplot as plt
    from matplotlib.gridspec import GridSpec

    figure = plt.figure(figsize=(col_num * col_len, row_num * row_len), constrained_layout=True)
    return figure, GridSpec(row_num, col_num, figure=figure)


class _Module:
    """A module with further names."""

    def __init__(self, module: Any, **names: Any) -> None:
        self.__dict__.update(names, _module=module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def __dir__(self) -> list[str]:
        return sorted({*dir(self._module), *vars(self)})


def _truncated_normal(mean: Any, std: Any, low: Any = None, high: Any = None, unit: Any = None) -> _init.Initializer:
    """Draw from a normal distribution between `low` and `high`, or without a bound where they are None."""
    center, scale = float(magnitude(mean)), float(magnitude(std))
    if low is None and high is None:
        return _init.Normal(center, scale, unit)
    bounds = (math.copysign(math.inf, sign) if bound is None else (float(magnitude(bound)) - center) / scale for bound, sign in ((low, -1), (high, 1)))
    return _init.TruncatedNormal(center, scale, *bounds, unit)


def _log_normal(mean: Any, std: Any, unit: Any = None) -> _init.Initializer:
    """Draw from a log-normal distribution with this mean and standard deviation."""
    m, s = float(magnitude(mean)), float(magnitude(std))
    if m <= 0:
        raise ValueError(f"LogNormal: expected a positive mean, got {m:g}")
    variance = math.log1p((s / m) ** 2)  # of the logarithm, whose mean is ln m - variance/2
    return _init.LogNormal(math.log(m) - variance / 2, math.sqrt(variance), unit)


def _rmsprop(lr: Any = 0.01, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0.0, momentum: float = 0.0, centered: bool = False,
             **options: Any) -> Any:
    """RMSProp with the defaults of the JAX package."""
    if momentum or centered:
        raise TypeError("RMSprop: `momentum` and `centered` are not supported; leave them out, or use Adam")
    return _optim.RMSProp(lr, alpha, eps, weight_decay=weight_decay, **options)


def _adagrad(lr: Any = 0.01, lr_decay: float = 0.0, weight_decay: float = 0.0, initial_accumulator_value: float = 0.0, eps: float = 1e-10,
             **options: Any) -> Any:
    """Adagrad with the parameters of the JAX package."""
    if lr_decay or initial_accumulator_value:
        raise TypeError("Adagrad: `lr_decay` and `initial_accumulator_value` are not supported; leave them out, and use a schedule for `lr`")
    return _optim.Adagrad(lr, eps, weight_decay=weight_decay, **options)


def _adam(lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999), beta1: float | None = None, beta2: float | None = None, eps: float = 1e-8,
          weight_decay: float = 0.0, amsgrad: bool = False, **options: Any) -> Any:
    """Adam with the parameters of the JAX package."""
    first, second = betas
    return _optim.Adam(lr, first if beta1 is None else beta1, second if beta2 is None else beta2, eps, weight_decay=weight_decay, amsgrad=amsgrad, **options)


def _adamw(lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.01, amsgrad: bool = False,
           **options: Any) -> Any:
    """AdamW with the parameters of the JAX package."""
    return _optim.AdamW(lr, *betas, eps, weight_decay=weight_decay, amsgrad=amsgrad, **options)


def _lion(lr: Any = 1e-4, betas: tuple[float, float] = (0.9, 0.99), weight_decay: float = 0.0, **options: Any) -> Any:
    """Lion with the parameters of the JAX package."""
    return _optim.Lion(lr, *betas, weight_decay=weight_decay, **options)


def _made_by(make: Any, native: Any) -> Any:
    """Return a subclass of an optimizer that takes the arguments of `make`, and whose instances are those of the optimizer itself."""
    def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
        return make(*args, **kwargs) if cls is kind else native.__new__(cls)

    kind = type(native.__name__, (native,), {"__new__": new, "__doc__": make.__doc__, "__module__": __name__, "__signature__": inspect.signature(make)})
    return kind


init = _Module(_init, TruncatedNormal=_truncated_normal, LogNormal=_log_normal)
optim = _Module(_optim, Adagrad=_made_by(_adagrad, _optim.Adagrad), Adam=_made_by(_adam, _optim.Adam), AdamW=_made_by(_adamw, _optim.AdamW),
                Lion=_made_by(_lion, _optim.Lion), RMSprop=_made_by(_rmsprop, _optim.RMSProp))
surrogate = _Module(_surrogate, ERF=_surrogate.Erf)
visualize = SimpleNamespace(get_figure=_get_figure)
__all__ = ["init", "metric", "optim", "surrogate", "visualize"]
