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


# Parameters after in_size by position, and defaults that differ from those of `nn`. Populations with a refractory time have tau_ref
# after the other time constants.
_MEMBRANE, _SPIKES = "V_th V_reset V_rest", "spk_fun spk_reset"
_ORDER = {
    "LIF": f"R tau {_MEMBRANE} V_initializer {_SPIKES}", "IF": f"R tau V_th V_initializer {_SPIKES}",
    "ALIF": f"R tau tau_a {_MEMBRANE} beta {_SPIKES} V_initializer a_initializer",
    "ExpIF": f"R tau {_MEMBRANE} V_T delta_T V_initializer {_SPIKES}", "QuaIF": f"R tau {_MEMBRANE} V_c c V_initializer {_SPIKES}",
    "AdExIF": f"R tau tau_w {_MEMBRANE} V_T delta_T a b V_initializer w_initializer {_SPIKES}",
    "AdQuaIF": f"R tau tau_w {_MEMBRANE} V_c c a b V_initializer w_initializer {_SPIKES}",
    "Gif": f"R tau V_rest V_reset V_th_inf V_th_reset V_th_initializer a b k1 k2 R1 R2 A1 A2 V_initializer I1_initializer I2_initializer {_SPIKES}",
    "Izhikevich": f"a b c d V_th V_initializer u_initializer {_SPIKES}", "CubaLIF": f"R tau tau_syn {_MEMBRANE} V_initializer g_initializer {_SPIKES}",
    "CobaLIF": f"R tau tau_syn E {_MEMBRANE} V_initializer g_initializer {_SPIKES}",
}
_DEFAULTS: dict[str, dict[str, Any]] = {"ExpIF": {"spk_reset": "soft"}, "QuaIF": {"spk_reset": "soft"}, "AdQuaIF": {"spk_reset": "soft"},
                                        "AdExIF": {"spk_reset": "soft", "V_th": -55.0}, "Izhikevich": {"u_initializer": 0.0}}


def _population(kind: str) -> Any:
    """Let a population take its parameters in the order of the package, with the package's defaults."""
    base, population = kind.removesuffix("Ref"), getattr(nn, kind)
    names = _ORDER[base].split()
    if base != kind:
        last = max(i for i, name in enumerate(names) if name in ("tau", "tau_a", "tau_w"))
        names.insert(last + 1, "tau_ref")

    @functools.wraps(population, updated=())
    def make(in_size: Any, *args: Any, name: str | None = None, **kwargs: Any) -> Any:
        if len(args) > len(names):
            raise TypeError(f"{kind}: expected at most {len(names)} parameters after in_size, got {len(args)}")
        given = dict(zip(names, args))
        twice = given.keys() & kwargs.keys()
        if twice:
            raise TypeError(f"{kind}: {', '.join(sorted(twice))} is given by position and by name")
        return population(in_size, **{**_DEFAULTS.get(base, {}), **given, **kwargs})

    return make


_DESCRIBED = ("LIF IF ALIF GIF Gif ExpIF QuaIF AdExIF AdQuaIF Izhikevich CubaLIF CobaLIF LIFRef ALIFRef ExpIFRef AdExIFRef AdQuaIFRef GifRef Expon DualExpon Alpha STP STD "
              "COBA MgBlock")
state = SimpleNamespace(Neuron=Neuron, Synapse=nn.Synapse, AlignPostProj=AlignPostProj, AlignPreProj=AlignPreProj, DeltaProj=DeltaProj,
                        CurrentProj=CurrentProj, LeakyRateReadout=nn.LeakyRateReadout, LeakySpikeReadout=nn.LeakySpikeReadout,
                        CUBA=Described(CUBA), **{name: Described(_population(name) if name.removesuffix("Ref") in _ORDER else getattr(nn, name))
                           for name in _DESCRIBED.split()})
