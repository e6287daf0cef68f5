# SPDX-License-Identifier: Apache-2.0
"""`brainpy.state`: neurons, synapses and projections; `X.desc(…)` describes a part that is made later."""

from __future__ import annotations

import functools
import inspect
from types import SimpleNamespace
from typing import Any

from .. import nn, surrogate, units


def _in_numbers(update: Any) -> Any:
    """The same method, with quantities among its arguments and their defaults as numbers in ms, mV and mA."""
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
    """A population whose equations the user writes, with its size, spike function and kind of reset as attributes."""

    def __init__(self, in_size: Any, spk_fun: Any = None, spk_reset: str = "soft", name: str | None = None) -> None:
        super().__init__(in_size)
        self.varshape = self.in_size = self.out_size = tuple(in_size) if isinstance(in_size, (list, tuple)) else (in_size,)
        self.spk_fun, self.spk_reset = spk_fun or surrogate.InvSquareGrad(), spk_reset

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "update" in vars(cls):
            cls.update = _in_numbers(cls.update)  # type: ignore[method-assign]


class Desc:
    """A part that is made when its place is known."""

    def __init__(self, make: Any, args: Any, kwargs: Any) -> None:
        self._make, self._args, self._kwargs = make, args, kwargs

    def __call__(self) -> Any:
        return self._make(*self._args, **self._kwargs)


class _Described:
    """A class or function with `desc`."""

    def __init__(self, make: Any) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._make(*args, **kwargs)

    def desc(self, *args: Any, **kwargs: Any) -> Desc:
        """A description: the part is made where it is used."""
        return Desc(self._make, args, kwargs)

    def __mro_entries__(self, bases: Any) -> tuple[Any, ...]:
        return (self._make,)


def _made(part: Any) -> Any:
    return part() if isinstance(part, Desc) else part


def AlignPostProj(*, comm: Any, syn: Any, out: Any, post: Any) -> Any:
    """comm(x) drives a synapse that `post` steps before itself."""
    return nn.AlignPostProj(_made(comm), _made(syn), _made(out), post)


def AlignPreProj(*, syn: Any, comm: Any, out: Any, post: Any) -> Any:
    """A synapse of the size of its source; comm(g) reaches `post`."""
    return nn.AlignPreProj(_made(syn), _made(comm), _made(out), post)


def DeltaProj(*, comm: Any, post: Any) -> Any:
    """comm(x) is added to the potential of `post`."""
    return nn.DeltaProj(_made(comm), post)


def CurrentProj(*, comm: Any, out: Any, post: Any) -> Any:
    """comm(x) itself is the conductance of this step."""
    return nn.CurrentProj(_made(comm), _made(out), post)


_DESCRIBED = ("LIF IF ALIF GIF Gif ExpIF QuaIF AdExIF AdQuaIF Izhikevich CubaLIF CobaLIF LIFRef ALIFRef Expon DualExpon Alpha STP STD "
              "CUBA COBA MgBlock")
state = SimpleNamespace(Neuron=Neuron, Synapse=nn.Synapse, AlignPostProj=AlignPostProj, AlignPreProj=AlignPreProj, DeltaProj=DeltaProj,
                        CurrentProj=CurrentProj, LeakyRateReadout=nn.LeakyRateReadout, LeakySpikeReadout=nn.LeakySpikeReadout,
                        **{name: _Described(getattr(nn, name)) for name in _DESCRIBED.split()})
