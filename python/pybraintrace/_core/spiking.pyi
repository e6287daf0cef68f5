"""Neurons, synapses, projections and readouts."""

from collections.abc import Sequence
from typing import overload

import pybraintrace._core
from pybraintrace._pickle import _reduce_surrogate as __reduce__
import pybraintrace.typing


class Surrogate:
    """A smooth stand-in for the derivative of a spike."""

    def __init__(self, kind: str, params: Sequence[float] = []) -> None: ...

    def __call__(self, x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
        """One where x >= 0, else zero, with the surrogate as derivative."""

    def slope(self, x: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
        """The surrogate at x."""

    @property
    def kind(self) -> str:
        """Its name."""

    @property
    def params(self) -> list[float]:
        """Its numbers."""

    def __repr__(self) -> str: ...

def surrogates() -> list:
    """(name, equation, parameters with defaults) of every surrogate."""

def register_surrogate(name: str, slope: object, doc: str = '') -> None:
    """Adds a surrogate: slope(x) is its derivative."""

def exp_euler(f: object, v: pybraintrace.typing.ArrayLike | None, dt: object | None = None) -> pybraintrace._core.Tensor:
    """One exponential Euler step of dv/dt = f(v)."""

class Neuron(pybraintrace._core.Module):
    """
    A population of neurons. Write your own from its equations: keep its states as attributes, and define `get_spike`, `reset` and `integrate`, or `update`.
    """

    @overload
    def __init__(self) -> None: ...

    @overload
    def __init__(self, in_size: int | Sequence[int] | None, **kwargs) -> None: ...

    def update(self, x: pybraintrace.typing.ArrayLike | None = None) -> pybraintrace._core.Tensor:
        """One step with a further current; returns the spikes after it."""

    def __call__(self, *args, **kwargs) -> object:
        """One step with a further current; returns the spikes after it."""

    def get_spike(self, *args) -> pybraintrace._core.Tensor:
        """Spikes of the present state."""

    def add_current(self, I: object) -> None:
        """
        A current of the next step; a function of the potential where it depends on it.
        """

    def add_delta(self, d: pybraintrace.typing.ArrayLike | None) -> None:
        """Added to the potential after the next step."""

    def sum_current_inputs(self, I: pybraintrace.typing.ArrayLike | None, V: pybraintrace.typing.ArrayLike | None = None) -> pybraintrace._core.Tensor:
        """
        A current and the pending ones, where they depend on it at the potential V.
        """

    def current(self, V: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
        """The sum of pending currents."""

    def sum_delta_inputs(self, V: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
        """The potential and the pending deltas."""

class LIF(Neuron):
    """Leaky integrate and fire: tau dv/dt = -v + V_rest + R I."""

    def __init__(self, in_size: int | Sequence[int] | None, **options) -> None: ...

class IF(LIF):
    """LIF with V_reset = V_rest = 0."""

    def __init__(self, in_size: int | Sequence[int] | None, **options) -> None: ...

class ALIF(LIF):
    """
    LIF with an adaptive threshold: tau_a da/dt = -a, a grows by one per spike.
    """

    def __init__(self, in_size: int | Sequence[int] | None, tau_a: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 100.0, beta: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 0.1, a_initializer: pybraintrace.typing.InitializerLike | None = 0.0, **options) -> None: ...

class GIF(Neuron):
    """Integrate and fire with one spike-triggered current."""

    def __init__(self, in_size: int | Sequence[int] | None, tau: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 20.0, tau_I2: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 50.0, A2: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 0.0, V_th: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, V_rest: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 0.0, R: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, spk_fun: str | Surrogate | None = 'relu_grad', hold_reset: bool = False, V_initializer: pybraintrace.typing.InitializerLike | None = 0.0, I2_initializer: pybraintrace.typing.InitializerLike | None = 0.0, dt: float | None | None = None) -> None: ...

class ExpIF(LIF):
    """Exponential integrate and fire."""

    def __init__(self, in_size: int | Sequence[int] | None, V_T: float = -59.9, delta_T: float = 3.48, **options) -> None: ...

class QuaIF(LIF):
    """Quadratic integrate and fire."""

    def __init__(self, in_size: int | Sequence[int] | None, V_c: float = -50.0, c: float = 0.07, **options) -> None: ...

class AdExIF(LIF):
    """Exponential integrate and fire with adaptation."""

    def __init__(self, in_size: int | Sequence[int] | None, a: float = 1.0, b: float = 1.0, tau_w: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 30.0, V_T: float = -59.9, delta_T: float = 3.48, **options) -> None: ...

class AdQuaIF(LIF):
    """Quadratic integrate and fire with adaptation."""

    def __init__(self, in_size: int | Sequence[int] | None, a: float = 1.0, b: float = 0.1, tau_w: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 10.0, V_c: float = -50.0, c: float = 0.07, **options) -> None: ...

class Izhikevich(Neuron):
    """dv/dt = 0.04 v^2 + 5 v + 140 - u + I, du/dt = a (b v - u)."""

    def __init__(self, in_size: int | Sequence[int] | None, a: float = 0.02, b: float = 0.2, c: float = -65.0, d: float = 8.0, V_th: float = 30.0, spk_fun: str | Surrogate | None = 'relu_grad', V_initializer: pybraintrace.typing.InitializerLike | None = -65.0, u_initializer: pybraintrace.typing.InitializerLike | None = -13.0, dt: float | None | None = None, method: str | None = 'exp_euler') -> None: ...

class Gif(Neuron):
    """Two spike-triggered currents and a moving threshold."""

    def __init__(self, in_size: int | Sequence[int] | None, **options) -> None: ...

class CubaLIF(LIF):
    """LIF with its own exponential synapse: current."""

    def __init__(self, in_size: int | Sequence[int] | None, tau_syn: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 5.0, **options) -> None: ...

class CobaLIF(LIF):
    """LIF with its own exponential synapse: conductance."""

    def __init__(self, in_size: int | Sequence[int] | None, tau_syn: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 5.0, E: float = 0.0, **options) -> None: ...

class LIFRef(LIF):
    """LIF that rests for tau_ref after a spike."""

    def __init__(self, in_size: int | Sequence[int] | None, tau_ref: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 5.0, **options) -> None: ...

class ALIFRef(ALIF):
    """ALIF that rests for tau_ref after a spike."""

    def __init__(self, in_size: int | Sequence[int] | None, tau_ref: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 5.0, tau_a: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 100.0, beta: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 0.1, **options) -> None: ...

class ExpIFRef(ExpIF):
    """ExpIF that rests for tau_ref after a spike."""

    def __init__(self, in_size: int | Sequence[int] | None, tau_ref: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.7, V_T: float = -59.9, delta_T: float = 3.48, **options) -> None: ...

class AdExIFRef(AdExIF):
    """AdExIF that rests for tau_ref after a spike."""

    def __init__(self, in_size: int | Sequence[int] | None, tau_ref: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.7, a: float = 1.0, b: float = 1.0, tau_w: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 30.0, V_T: float = -59.9, delta_T: float = 3.48, **options) -> None: ...

class AdQuaIFRef(AdQuaIF):
    """AdQuaIF that rests for tau_ref after a spike."""

    def __init__(self, in_size: int | Sequence[int] | None, tau_ref: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.7, a: float = 1.0, b: float = 0.1, tau_w: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 10.0, V_c: float = -50.0, c: float = 0.07, **options) -> None: ...

class GifRef(Gif):
    """Gif that rests for tau_ref after a spike."""

    def __init__(self, in_size: int | Sequence[int] | None, tau_ref: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.7, **options) -> None: ...

class LI(Neuron):
    """Leaky integrator: tau dv/dt = V_rest - v + R x; gives v."""

    def __init__(self, in_size: int | Sequence[int] | None, tau: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 5.0, V_rest: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 0.0, R: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, V_initializer: pybraintrace.typing.InitializerLike | None = 0.0, dt: float | None | None = None, method: str | None = 'exp_euler') -> None: ...

class CubaLI(Neuron):
    """LI of a current: tau_syn dI/dt = -I + w_in x."""

    def __init__(self, in_size: int | Sequence[int] | None, tau_syn: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 5.0, w_in: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, tau: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 5.0, V_rest: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 0.0, R: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, V_initializer: pybraintrace.typing.InitializerLike | None = 0.0, dt: float | None | None = None, method: str | None = 'exp_euler') -> None: ...

class PerfectIntegrator(Neuron):
    """dv/dt = R x; gives v."""

    def __init__(self, in_size: int | Sequence[int] | None, R: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, V_initializer: pybraintrace.typing.InitializerLike | None = 0.0, dt: float | None | None = None) -> None: ...

class PerfectIF(Neuron):
    """Integrate and fire without leak: dv/dt = R x."""

    def __init__(self, in_size: int | Sequence[int] | None, R: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, V_th: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, V_reset: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 0.0, spk_reset: object = 'soft', spk_fun: str | Surrogate | None = 'relu_grad', V_initializer: pybraintrace.typing.InitializerLike | None = 0.0, dt: float | None | None = None, strict: bool = False) -> None: ...

class FilteredLIF(LIF):
    """LIF of a current: tau_syn dI/dt = -I + w_in x."""

    def __init__(self, in_size: int | Sequence[int] | None, tau_syn: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 5.0, w_in: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, **options) -> None: ...

class Scale(pybraintrace._core.Module):
    """x times a trainable factor for each unit."""

    def __init__(self, in_size: int | Sequence[int] | None, init: pybraintrace.typing.InitializerLike | None = 1.0) -> None: ...

class Threshold(pybraintrace._core.Module):
    """1 where x > threshold, else 0."""

    def __init__(self, threshold: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, spk_fun: str | Surrogate | None = 'relu_grad', strict: bool = True) -> None: ...

class LearnableDelay(pybraintrace._core.Module):
    """
    x of some time ago, one delay in ms for each unit; delays learn, between steps too.
    """

    def __init__(self, in_size: int | Sequence[int] | None, max: float, delay: object | None = None, dt: float | None | None = None, width: int = 1) -> None: ...

class Synapse(pybraintrace._core.Module):
    """
    Takes presynaptic input during a step and gives a conductance or current.
    """

    def add_delta(self, x: pybraintrace.typing.ArrayLike | None) -> None:
        """Input of the next step."""

    def update(self, x: pybraintrace.typing.ArrayLike | None = None) -> pybraintrace._core.Tensor:
        """One step; returns g after it."""

class Expon(Synapse):
    """tau dg/dt = -g; g grows by its input."""

    def __init__(self, in_size: int | Sequence[int] | None, tau: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 8.0, g_initializer: pybraintrace.typing.InitializerLike | None = 0.0, dt: float | None | None = None) -> None: ...

class DualExpon(Synapse):
    """The difference of two exponentials."""

    def __init__(self, in_size: int | Sequence[int] | None, tau_decay: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 10.0, tau_rise: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1.0, A: float = 1.0, normalize: bool = True, dt: float | None | None = None) -> None: ...

class Alpha(Synapse):
    """tau dg/dt = -g + h, tau dh/dt = -h."""

    def __init__(self, in_size: int | Sequence[int] | None, tau: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 8.0, dt: float | None | None = None) -> None: ...

class STP(pybraintrace._core.Module):
    """Short-term plasticity of spikes."""

    def __init__(self, in_size: int | Sequence[int] | None, U: float = 0.15, tau_f: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 1500.0, tau_d: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 200.0, dt: float | None | None = None) -> None: ...

class STD(pybraintrace._core.Module):
    """Short-term depression of spikes."""

    def __init__(self, in_size: int | Sequence[int] | None, tau: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None = 200.0, U: float = 0.07, dt: float | None | None = None) -> None: ...

class SynapseOutput:
    """What a synapse does to a membrane."""

def CUBA(scale: object = 1.0) -> SynapseOutput:
    """I = scale g."""

def COBA(E: float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState | None) -> SynapseOutput:
    """I = g (E - V)."""

def MgBlock(E: float = 0.0, cc_Mg: float = 1.2, alpha: float = 0.062, beta: float = 3.57, V_offset: float = 0.0) -> SynapseOutput:
    """I = g (E - V) / (1 + Mg/beta e^(alpha (V_offset - V)))."""

class DeltaProj(pybraintrace._core.Module):
    """comm(x) is added to the potential of `post` after its next step."""

    def __init__(self, comm: pybraintrace._core.Module, post: Neuron) -> None: ...

class AlignPostProj(pybraintrace._core.Module):
    """comm(x) drives a synapse that `post` steps before itself."""

    def __init__(self, comm: pybraintrace._core.Module, syn: Synapse, out: SynapseOutput, post: Neuron) -> None: ...

class AlignPreProj(pybraintrace._core.Module):
    """A synapse of the size of its source; comm(g) reaches `post`."""

    def __init__(self, syn: Synapse, comm: pybraintrace._core.Module, out: SynapseOutput, post: Neuron) -> None: ...

class CurrentProj(pybraintrace._core.Module):
    """comm(x) itself is the conductance of this step."""

    def __init__(self, comm: pybraintrace._core.Module, out: SynapseOutput, post: Neuron) -> None: ...

class LeakyRateReadout(pybraintrace._core.Module):
    """r = e^(-dt/tau) r + x W; returns r."""

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, tau: object = 5.0, w_init: pybraintrace.typing.InitializerLike | None = None, r_initializer: pybraintrace.typing.InitializerLike | None = 0.0, dt: float | None | None = None, name: object | None = None) -> None: ...

class LeakySpikeReadout(pybraintrace._core.Module):
    """A LIF population as output."""

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, **options) -> None: ...

class SpikeCountReadout(pybraintrace._core.Module):
    """Counts the spikes it is given."""

    def __init__(self, in_size: int | Sequence[int] | None) -> None: ...

class FirstSpikeReadout(pybraintrace._core.Module):
    """The time (ms) of the first spike of each unit."""

    def __init__(self, in_size: int | Sequence[int] | None, never: float = 10000000.0, dt: float | None | None = None) -> None: ...

class Delay(pybraintrace._core.Module):
    """x of some steps ago; zeros before that."""

    def __init__(self, in_size: int | Sequence[int] | None, steps: int) -> None: ...
