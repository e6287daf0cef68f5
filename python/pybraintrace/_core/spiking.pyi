"""Neurons, synapses, projections and readouts."""

from typing import Any
from collections.abc import Sequence
from typing import overload

import pybraintrace._core
from pybraintrace._pickle import _reduce_surrogate as __reduce__
import pybraintrace.typing


class Surrogate:
    """
    A surrogate gradient of the spike function.

    Args:
        kind: name of the surrogate.
        params: its parameters, in order.
    """

    def __init__(self, kind: str, params: Sequence[float] = []) -> None: ...

    def __call__(self, x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
        """Return 1 where x >= 0, else 0; the derivative is the surrogate."""

    def slope(self, x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
        """Return the surrogate derivative at x."""

    @property
    def kind(self) -> str:
        """Name of the surrogate."""

    @property
    def params(self) -> list[float]:
        """Parameters of the surrogate."""

    def __repr__(self) -> str: ...

def surrogates() -> list:
    """Return (name, equation, parameters with defaults) of every surrogate."""

def register_surrogate(name: str, slope: object, doc: str = '') -> None:
    """
    Register a surrogate under a name.

    Args:
        name: its name.
        slope: function from x to the derivative.
        doc: its equation, for lists.
    """

def exp_euler(f: object, v: pybraintrace.typing.ArrayLike | None, dt: object | None = None) -> pybraintrace._core.Tensor:
    """
    Return v after one exponential Euler step of dv/dt = f(v).

    Args:
        f: the drift.
        v: current value.
        dt: time step (ms); default: that of the environment.
    """

class Neuron(pybraintrace._core.Module):
    """
    Base class of neuron populations.

    To write your own, keep its states as attributes, and define either `get_spike`, `reset` and `integrate`, or `update`.
    """

    @overload
    def __init__(self) -> None: ...

    @overload
    def __init__(self, in_size: int | Sequence[int] | None, **kwargs) -> None: ...

    def update(self, x: pybraintrace.typing.ArrayLike | None = None) -> pybraintrace._core.Tensor:
        """Run one step with an additional current; return the spikes after it."""

    def __call__(self, *args, **kwargs) -> Any:
        """Run one step with an additional current; return the spikes after it."""

    def get_spike(self, *args) -> pybraintrace._core.Tensor:
        """Return the spikes of the current state."""

    def add_current(self, I: object) -> None:
        """
        Add a current to the next step.

        Args:
            I: the current, or a function from the potential to the current.
        """

    def add_delta(self, d: pybraintrace.typing.ArrayLike | None) -> None:
        """Add a value to the potential after the next step."""

    def sum_current_inputs(self, I: pybraintrace.typing.ArrayLike | None, V: pybraintrace.typing.ArrayLike | None = None) -> pybraintrace._core.Tensor:
        """
        Return I plus all pending currents, evaluated at the potential V (default: I).
        """

    def current(self, V: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
        """Return the sum of the pending currents at the potential V."""

    def sum_delta_inputs(self, V: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
        """Return V plus the pending deltas."""

class LIF(Neuron):
    """
    Leaky integrate-and-fire neurons: tau dv/dt = -v + V_rest + R I.

    Args:
        in_size: number of neurons, or shape of the population.
        tau: membrane time constant (ms), default 5.
        V_th: threshold (mV), default 1.
        V_reset: reset potential (mV), default 0.
        V_rest: resting potential (mV), default 0.
        R: membrane resistance, default 1.
        spk_reset: 'soft' (subtract the threshold) or 'hard' (set to V_reset), default 'soft'.
        spk_fun: surrogate gradient of spikes, default 'relu_grad'.
        V_initializer: initial potential, default 0.
        dt: time step (ms); default: that of the environment.
        method: 'exp_euler' or 'euler', default 'exp_euler'.
        strict: do not spike exactly at the threshold, default False.
    """

    def __init__(self, in_size: int | Sequence[int] | None, **options) -> None: ...

class IF(LIF):
    """
    LIF neurons with V_reset = V_rest = 0.

    Args:
        in_size: number of neurons, or shape of the population.
        options: keyword options of the membrane, as of `LIF`.
    """

    def __init__(self, in_size: int | Sequence[int] | None, **options) -> None: ...

class ALIF(LIF):
    """
    LIF neurons with an adaptive threshold V_th + beta a: tau_a da/dt = -a, and each spike adds one to a.

    Args:
        in_size: number of neurons, or shape of the population.
        tau_a: time constant of the adaptation (ms).
        beta: threshold increase per unit of adaptation.
        a_initializer: initial adaptation.
        options: keyword options of the membrane, as of `LIF`.
    """

    def __init__(self, in_size: int | Sequence[int] | None, tau_a: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 100.0, beta: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 0.1, a_initializer: pybraintrace.typing.InitializerLike | None = 0.0, **options) -> None: ...

class GIF(Neuron):
    """
    Generalized integrate-and-fire neurons with one spike-triggered current I2.

    Args:
        in_size: number of neurons, or shape of the population.
        tau: membrane time constant (ms).
        tau_I2: time constant of I2 (ms).
        A2: decrease of I2 per spike.
        V_th: threshold (mV).
        V_rest: resting potential (mV).
        R: membrane resistance.
        spk_fun: surrogate gradient of spikes.
        hold_reset: do not differentiate through the reset.
        V_initializer: initial potential.
        I2_initializer: initial I2.
        dt: time step (ms); default: that of the environment.
    """

    def __init__(self, in_size: int | Sequence[int] | None, tau: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 20.0, tau_I2: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 50.0, A2: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 0.0, V_th: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, V_rest: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 0.0, R: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, spk_fun: str | Surrogate | None = 'relu_grad', hold_reset: bool = False, V_initializer: pybraintrace.typing.InitializerLike | None = 0.0, I2_initializer: pybraintrace.typing.InitializerLike | None = 0.0, dt: float | None | None = None) -> None: ...

class ExpIF(LIF):
    """
    Exponential integrate-and-fire neurons.

    Args:
        in_size: number of neurons, or shape of the population.
        V_T: potential where the exponential rise starts (mV).
        delta_T: slope of the rise (mV).
        options: keyword options of the membrane, as of `LIF`.
    """

    def __init__(self, in_size: int | Sequence[int] | None, V_T: float = -59.9, delta_T: float = 3.48, **options) -> None: ...

class QuaIF(LIF):
    """
    Quadratic integrate-and-fire neurons.

    Args:
        in_size: number of neurons, or shape of the population.
        V_c: critical potential (mV).
        c: factor of the quadratic term.
        options: keyword options of the membrane, as of `LIF`.
    """

    def __init__(self, in_size: int | Sequence[int] | None, V_c: float = -50.0, c: float = 0.07, **options) -> None: ...

class AdExIF(LIF):
    """
    Adaptive exponential integrate-and-fire neurons.

    Args:
        in_size: number of neurons, or shape of the population.
        a: coupling of the potential to the adaptation.
        b: increment of the adaptation per spike.
        tau_w: time constant of the adaptation (ms).
        V_T: potential where the exponential rise starts (mV).
        delta_T: slope of the rise (mV).
        options: keyword options of the membrane, as of `LIF`.
    """

    def __init__(self, in_size: int | Sequence[int] | None, a: float = 1.0, b: float = 1.0, tau_w: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 30.0, V_T: float = -59.9, delta_T: float = 3.48, **options) -> None: ...

class AdQuaIF(LIF):
    """
    Adaptive quadratic integrate-and-fire neurons.

    Args:
        in_size: number of neurons, or shape of the population.
        a: coupling of the potential to the adaptation.
        b: increment of the adaptation per spike.
        tau_w: time constant of the adaptation (ms).
        V_c: critical potential (mV).
        c: factor of the quadratic term.
        options: keyword options of the membrane, as of `LIF`.
    """

    def __init__(self, in_size: int | Sequence[int] | None, a: float = 1.0, b: float = 0.1, tau_w: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 10.0, V_c: float = -50.0, c: float = 0.07, **options) -> None: ...

class Izhikevich(Neuron):
    """
    Izhikevich neurons: dv/dt = 0.04 v^2 + 5 v + 140 - u + I, du/dt = a (b v - u); a spike sets v = c, u = u + d.

    Args:
        in_size: number of neurons, or shape of the population.
        a: rate of u (per ms).
        b: coupling of v to u.
        c: reset potential (mV).
        d: increment of u per spike.
        V_th: threshold (mV).
        spk_fun: surrogate gradient of spikes.
        V_initializer: initial v.
        u_initializer: initial u.
        dt: time step (ms); default: that of the environment.
        method: 'exp_euler' or 'euler'.
    """

    def __init__(self, in_size: int | Sequence[int] | None, a: float = 0.02, b: float = 0.2, c: float = -65.0, d: float = 8.0, V_th: float = 30.0, spk_fun: str | Surrogate | None = 'relu_grad', V_initializer: pybraintrace.typing.InitializerLike | None = -65.0, u_initializer: pybraintrace.typing.InitializerLike | None = -13.0, dt: float | None | None = None, method: str | None = 'exp_euler') -> None: ...

class Gif(Neuron):
    """
    Generalized integrate-and-fire neurons with two spike-triggered currents and a moving threshold.

    Args:
        in_size: number of neurons, or shape of the population.
        options: keyword options of the membrane, as of `LIF`.
    """

    def __init__(self, in_size: int | Sequence[int] | None, **options) -> None: ...

class CubaLIF(LIF):
    """
    LIF neurons driven through a current-based exponential synapse.

    Args:
        in_size: number of neurons, or shape of the population.
        tau_syn: time constant of the synapse (ms).
        options: keyword options of the membrane, as of `LIF`.
    """

    def __init__(self, in_size: int | Sequence[int] | None, tau_syn: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 5.0, **options) -> None: ...

class CobaLIF(LIF):
    """
    LIF neurons driven through a conductance-based exponential synapse.

    Args:
        in_size: number of neurons, or shape of the population.
        tau_syn: time constant of the synapse (ms).
        E: reversal potential (mV).
        options: keyword options of the membrane, as of `LIF`.
    """

    def __init__(self, in_size: int | Sequence[int] | None, tau_syn: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 5.0, E: float = 0.0, **options) -> None: ...

class LIFRef(LIF):
    """
    LIF neurons with a refractory period.

    Args:
        in_size: number of neurons, or shape of the population.
        tau_ref: refractory period (ms).
        options: keyword options of the membrane, as of `LIF`.
    """

    def __init__(self, in_size: int | Sequence[int] | None, tau_ref: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 5.0, **options) -> None: ...

class ALIFRef(ALIF):
    """
    ALIF neurons with a refractory period.

    Args:
        in_size: number of neurons, or shape of the population.
        tau_ref: refractory period (ms).
        tau_a: time constant of the adaptation (ms).
        beta: threshold increase per unit of adaptation.
        options: keyword options of the membrane, as of `LIF`.
    """

    def __init__(self, in_size: int | Sequence[int] | None, tau_ref: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 5.0, tau_a: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 100.0, beta: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 0.1, **options) -> None: ...

class ExpIFRef(ExpIF):
    """
    ExpIF neurons with a refractory period.

    Args:
        in_size: number of neurons, or shape of the population.
        tau_ref: refractory period (ms).
        V_T: potential where the exponential rise starts (mV).
        delta_T: slope of the rise (mV).
        options: keyword options of the membrane, as of `LIF`.
    """

    def __init__(self, in_size: int | Sequence[int] | None, tau_ref: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.7, V_T: float = -59.9, delta_T: float = 3.48, **options) -> None: ...

class AdExIFRef(AdExIF):
    """
    AdExIF neurons with a refractory period.

    Args:
        in_size: number of neurons, or shape of the population.
        tau_ref: refractory period (ms).
        a: coupling of the potential to the adaptation.
        b: increment of the adaptation per spike.
        tau_w: time constant of the adaptation (ms).
        V_T: potential where the exponential rise starts (mV).
        delta_T: slope of the rise (mV).
        options: keyword options of the membrane, as of `LIF`.
    """

    def __init__(self, in_size: int | Sequence[int] | None, tau_ref: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.7, a: float = 1.0, b: float = 1.0, tau_w: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 30.0, V_T: float = -59.9, delta_T: float = 3.48, **options) -> None: ...

class AdQuaIFRef(AdQuaIF):
    """
    AdQuaIF neurons with a refractory period.

    Args:
        in_size: number of neurons, or shape of the population.
        tau_ref: refractory period (ms).
        a: coupling of the potential to the adaptation.
        b: increment of the adaptation per spike.
        tau_w: time constant of the adaptation (ms).
        V_c: critical potential (mV).
        c: factor of the quadratic term.
        options: keyword options of the membrane, as of `LIF`.
    """

    def __init__(self, in_size: int | Sequence[int] | None, tau_ref: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.7, a: float = 1.0, b: float = 0.1, tau_w: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 10.0, V_c: float = -50.0, c: float = 0.07, **options) -> None: ...

class GifRef(Gif):
    """
    Gif neurons with a refractory period.

    Args:
        in_size: number of neurons, or shape of the population.
        tau_ref: refractory period (ms).
        options: keyword options of the membrane, as of `LIF`.
    """

    def __init__(self, in_size: int | Sequence[int] | None, tau_ref: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.7, **options) -> None: ...

class LI(Neuron):
    """
    Leaky integrator tau dv/dt = V_rest - v + R x; returns v.

    Args:
        in_size: number of neurons, or shape of the population.
        tau: time constant (ms).
        V_rest: resting value.
        R: input gain.
        V_initializer: initial v.
        dt: time step (ms); default: that of the environment.
        method: 'exp_euler' or 'euler'.
    """

    def __init__(self, in_size: int | Sequence[int] | None, tau: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 5.0, V_rest: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 0.0, R: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, V_initializer: pybraintrace.typing.InitializerLike | None = 0.0, dt: float | None | None = None, method: str | None = 'exp_euler') -> None: ...

class CubaLI(Neuron):
    """
    Leaky integrator of a filtered input: tau_syn dI/dt = -I + w_in x, tau dv/dt = V_rest - v + R I; returns v.

    Args:
        in_size: number of neurons, or shape of the population.
        tau_syn: time constant of the synapse (ms).
        w_in: input gain of the synapse.
        tau: time constant (ms).
        V_rest: resting value.
        R: gain.
        V_initializer: initial v.
        dt: time step (ms); default: that of the environment.
        method: 'exp_euler' or 'euler'.
    """

    def __init__(self, in_size: int | Sequence[int] | None, tau_syn: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 5.0, w_in: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, tau: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 5.0, V_rest: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 0.0, R: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, V_initializer: pybraintrace.typing.InitializerLike | None = 0.0, dt: float | None | None = None, method: str | None = 'exp_euler') -> None: ...

class PerfectIntegrator(Neuron):
    """
    Integrator without leak, dv/dt = R x; returns v.

    Args:
        in_size: number of neurons, or shape of the population.
        R: input gain (per ms).
        V_initializer: initial v.
        dt: time step (ms); default: that of the environment.
    """

    def __init__(self, in_size: int | Sequence[int] | None, R: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, V_initializer: pybraintrace.typing.InitializerLike | None = 0.0, dt: float | None | None = None) -> None: ...

class PerfectIF(Neuron):
    """
    Integrate-and-fire neurons without leak: dv/dt = R x.

    Args:
        in_size: number of neurons, or shape of the population.
        R: input gain (per ms).
        V_th: threshold.
        V_reset: reset value.
        spk_reset: 'soft' or 'hard'.
        spk_fun: surrogate gradient of spikes.
        V_initializer: initial v.
        dt: time step (ms); default: that of the environment.
        strict: do not spike exactly at the threshold.
    """

    def __init__(self, in_size: int | Sequence[int] | None, R: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, V_th: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, V_reset: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 0.0, spk_reset: object = 'soft', spk_fun: str | Surrogate | None = 'relu_grad', V_initializer: pybraintrace.typing.InitializerLike | None = 0.0, dt: float | None | None = None, strict: bool = False) -> None: ...

class FilteredLIF(LIF):
    """
    LIF neurons with a filtered input: tau_syn dI/dt = -I + w_in x.

    Args:
        in_size: number of neurons, or shape of the population.
        tau_syn: time constant of the synapse (ms).
        w_in: input gain of the synapse.
        options: keyword options of the membrane, as of `LIF`.
    """

    def __init__(self, in_size: int | Sequence[int] | None, tau_syn: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 5.0, w_in: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, **options) -> None: ...

class Scale(pybraintrace._core.Module):
    """Multiply each unit by a factor that learns online."""

    def __init__(self, in_size: int | Sequence[int] | None, init: pybraintrace.typing.InitializerLike | None = 1.0) -> None: ...

class Threshold(pybraintrace._core.Module):
    """
    Return 1 where x > threshold, else 0.

    Args:
        threshold: the threshold.
        spk_fun: surrogate gradient of spikes.
        strict: whether x must exceed the threshold; otherwise it may equal it.
    """

    def __init__(self, threshold: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, spk_fun: str | Surrogate | None = 'relu_grad', strict: bool = True) -> None: ...

class LearnableDelay(pybraintrace._core.Module):
    """
    Delay each unit by a trainable time, with interpolation between steps.

    Args:
        in_size: number of units, or shape.
        max: largest delay (ms).
        delay: initializer of the delays (ms), default uniform in [0, max].
        dt: time step (ms); default: that of the environment.
        width: half-width of the interpolation kernel in steps.
    """

    def __init__(self, in_size: int | Sequence[int] | None, max: float, delay: object | None = None, dt: float | None | None = None, width: int = 1) -> None: ...

class Synapse(pybraintrace._core.Module):
    """
    Base class of synapses, which turn presynaptic input into a conductance or current g.
    """

    def add_delta(self, x: pybraintrace.typing.ArrayLike | None) -> None:
        """Add input to the next step."""

    def update(self, x: pybraintrace.typing.ArrayLike | None = None) -> pybraintrace._core.Tensor:
        """Run one step with an additional input; return g after it."""

class Expon(Synapse):
    """
    Exponential synapse: tau dg/dt = -g; input is added to g.

    Args:
        in_size: number of neurons, or shape of the population.
        tau: time constant (ms).
        g_initializer: initial g.
        dt: time step (ms); default: that of the environment.
    """

    def __init__(self, in_size: int | Sequence[int] | None, tau: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 8.0, g_initializer: pybraintrace.typing.InitializerLike | None = 0.0, dt: float | None | None = None) -> None: ...

class DualExpon(Synapse):
    """
    Dual exponential synapse: the difference of two exponentials.

    Args:
        in_size: number of neurons, or shape of the population.
        tau_decay: time constant of the decay (ms).
        tau_rise: time constant of the rise (ms).
        A: amplitude.
        normalize: scale the response to one spike to a peak of A.
        dt: time step (ms); default: that of the environment.
    """

    def __init__(self, in_size: int | Sequence[int] | None, tau_decay: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 10.0, tau_rise: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, A: float = 1.0, normalize: bool = True, dt: float | None | None = None) -> None: ...

class Alpha(Synapse):
    """
    Alpha synapse: tau dg/dt = -g + h, tau dh/dt = -h; input is added to h.

    Args:
        in_size: number of neurons, or shape of the population.
        tau: time constant (ms).
        dt: time step (ms); default: that of the environment.
    """

    def __init__(self, in_size: int | Sequence[int] | None, tau: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 8.0, dt: float | None | None = None) -> None: ...

class STP(pybraintrace._core.Module):
    """
    Short-term plasticity (Tsodyks & Markram 1997).

    Args:
        in_size: number of units, or shape.
        U: increase of the release probability per spike.
        tau_f: time constant of facilitation (ms).
        tau_d: time constant of depression (ms).
        dt: time step (ms); default: that of the environment.
    """

    def __init__(self, in_size: int | Sequence[int] | None, U: float = 0.15, tau_f: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1500.0, tau_d: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 200.0, dt: float | None | None = None) -> None: ...

class STD(pybraintrace._core.Module):
    """
    Short-term depression.

    Args:
        in_size: number of units, or shape.
        tau: recovery time constant (ms).
        U: fraction used per spike.
        dt: time step (ms); default: that of the environment.
    """

    def __init__(self, in_size: int | Sequence[int] | None, tau: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 200.0, U: float = 0.07, dt: float | None | None = None) -> None: ...

class SynapseOutput:
    """Effect of a synapse on a membrane: CUBA, COBA or MgBlock."""

def CUBA(scale: object = 1.0) -> SynapseOutput:
    """Current-based output: I = scale g."""

def COBA(E: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None) -> SynapseOutput:
    """Conductance-based output with reversal potential E: I = g (E - V)."""

def MgBlock(E: float = 0.0, cc_Mg: float = 1.2, alpha: float = 0.062, beta: float = 3.57, V_offset: float = 0.0) -> SynapseOutput:
    """
    Conductance-based output with magnesium block (NMDA): I = g (E - V) / (1 + cc_Mg/beta exp(alpha (V_offset - V))).
    """

class DeltaProj(pybraintrace._core.Module):
    """
    Projection that adds comm(x) to the potential of `post` after its next step.

    Args:
        comm: layer that connects the populations, such as Linear.
        post: the target population.
    """

    def __init__(self, comm: pybraintrace._core.Module, post: Neuron) -> None: ...

class AlignPostProj(pybraintrace._core.Module):
    """
    Projection with a synapse of the size of its target: comm(x) drives it, and `post` updates it before its own step.

    Args:
        comm: layer that connects the populations, such as Linear.
        syn: the synapse.
        out: its effect on the membrane: CUBA, COBA or MgBlock.
        post: the target population.
    """

    def __init__(self, comm: pybraintrace._core.Module, syn: Synapse, out: SynapseOutput, post: Neuron) -> None: ...

class AlignPreProj(pybraintrace._core.Module):
    """
    Projection with a synapse of the size of its source: x drives it, and comm(g) reaches `post`.

    Args:
        syn: the synapse.
        comm: layer that connects the populations, such as Linear.
        out: its effect on the membrane: CUBA, COBA or MgBlock.
        post: the target population.
    """

    def __init__(self, syn: Synapse, comm: pybraintrace._core.Module, out: SynapseOutput, post: Neuron) -> None: ...

class CurrentProj(pybraintrace._core.Module):
    """
    Projection without a synapse: comm(x) is the conductance of the current step.

    Args:
        comm: layer that connects the populations, such as Linear.
        out: its effect on the membrane: CUBA, COBA or MgBlock.
        post: the target population.
    """

    def __init__(self, comm: pybraintrace._core.Module, out: SynapseOutput, post: Neuron) -> None: ...

class LeakyRateReadout(pybraintrace._core.Module):
    """
    Leaky readout of rates: r = exp(-dt/tau) r + x W; returns r.

    Args:
        in_size: number of inputs, or shape.
        out_size: number of outputs, or shape.
        tau: time constant (ms).
        w_init: initializer of the weight.
        r_initializer: initial r.
        dt: time step (ms); default: that of the environment.
        name: ignored.
    """

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, tau: object = 5.0, w_init: pybraintrace.typing.InitializerLike | None = None, r_initializer: pybraintrace.typing.InitializerLike | None = 0.0, dt: float | None | None = None, name: object | None = None) -> None: ...

class LeakySpikeReadout(pybraintrace._core.Module):
    """
    Spiking readout: a weight and a LIF population; returns spikes.

    Args:
        in_size: number of inputs, or shape.
        out_size: number of outputs, or shape.
        w_init: initializer of the weight.
        options: keyword options of the membrane, as of `LIF`.
    """

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, **options) -> None: ...

class SpikeCountReadout(pybraintrace._core.Module):
    """Count spikes: return the number of spikes of each unit so far."""

    def __init__(self, in_size: int | Sequence[int] | None) -> None: ...

class FirstSpikeReadout(pybraintrace._core.Module):
    """
    Return the time (ms) of the first spike of each unit; not differentiable.

    Args:
        in_size: number of units, or shape.
        never: value before the first spike.
        dt: time step (ms); default: that of the environment.
    """

    def __init__(self, in_size: int | Sequence[int] | None, never: float = 10000000.0, dt: float | None | None = None) -> None: ...

class Delay(pybraintrace._core.Module):
    """
    Delay the input by a fixed number of steps; the output starts with zeros.
    """

    def __init__(self, in_size: int | Sequence[int] | None, steps: int) -> None: ...
