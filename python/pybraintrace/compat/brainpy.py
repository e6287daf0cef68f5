# SPDX-License-Identifier: Apache-2.0
"""`brainpy.state`: neurons, synapses and projections."""

from __future__ import annotations

import functools
import inspect
from types import SimpleNamespace
from typing import Any

from .. import nn, surrogate, units
from ._described import Described, made


def _in_numbers(update: Any) -> Any:
    """Wrap a method so that quantities among its arguments and defaults become numbers in ms, mV and mA."""
    signature = inspect.signature(update)

    @functools.wraps(update)
    def step(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        for name, value in given.arguments.items():
            given.arguments[name] = units.magnitude(value)
        return update(*given.args, **given.kwargs)

    return step


class Neuron(nn.Neuron):
    """Base class of custom populations, with size, spike function and reset as attributes."""

    def __init__(self, in_size: Any, spk_fun: Any = None, spk_reset: str = "soft", name: str | None = None) -> None:
        super().__init__(in_size)
        self.varshape = self.in_size = self.out_size = tuple(in_size) if isinstance(in_size, (list, tuple)) else (in_size,)
        self.spk_fun, self.spk_reset = spk_fun or surrogate.InvSquareGrad(), spk_reset

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "update" in vars(cls):
            cls.update = _in_numbers(cls.update)  # type: ignore[method-assign]


def CUBA(scale: Any = 1000.0) -> Any:
    """Current-based output I = scale g; the default of the JAX package is one volt, here in mV."""
    return nn.CUBA(units.magnitude(scale))


def AlignPostProj(*, comm: Any, syn: Any, out: Any, post: Any) -> Any:
    """Projection with a synapse of the size of its target; see nn.AlignPostProj."""
    return nn.AlignPostProj(made(comm), made(syn), made(out), post)


def AlignPreProj(*, syn: Any, comm: Any, out: Any, post: Any) -> Any:
    """Projection with a synapse of the size of its source; see nn.AlignPreProj."""
    return nn.AlignPreProj(made(syn), made(comm), made(out), post)


def DeltaProj(*, comm: Any, post: Any) -> Any:
    """Projection that adds comm(x) to the potential of `post`; see nn.DeltaProj."""
    return nn.DeltaProj(made(comm), post)


def CurrentProj(*, comm: Any, out: Any, post: Any) -> Any:
    """Projection without a synapse; see nn.CurrentProj."""
    return nn.CurrentProj(made(comm), made(out), post)


_DESCRIBED = ("LIF IF ALIF GIF Gif ExpIF QuaIF AdExIF AdQuaIF Izhikevich CubaLIF CobaLIF LIFRef ALIFRef ExpIFRef AdExIFRef AdQuaIFRef GifRef Expon DualExpon Alpha STP STD "
              "COBA MgBlock")
state = SimpleNamespace(Neuron=Neuron, Synapse=nn.Synapse, AlignPostProj=AlignPostProj, AlignPreProj=AlignPreProj, DeltaProj=DeltaProj,
                        CurrentProj=CurrentProj, LeakyRateReadout=nn.LeakyRateReadout, LeakySpikeReadout=nn.LeakySpikeReadout,
                        CUBA=Described(CUBA), **{name: Described(getattr(nn, name)) for name in _DESCRIBED.split()})
