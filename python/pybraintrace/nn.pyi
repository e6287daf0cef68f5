"""Modules, layers, cells, neurons, synapses, activations."""

from typing import Any
from typing import TypeAlias

import pybraintrace._core
from pybraintrace._core import Module as Module, Tensor as Tensor
import pybraintrace._core.layers
from pybraintrace._core.layers import SparsePattern as SparsePattern
from pybraintrace._core.ops import (
    celu as celu,
    elu as elu,
    gelu as gelu,
    hard_sigmoid as hard_sigmoid,
    hard_silu as hard_silu,
    hard_silu as hard_swish,
    hard_tanh as hard_tanh,
    leaky_relu as leaky_relu,
    log_sigmoid as log_sigmoid,
    log_softmax as log_softmax,
    logsumexp as logsumexp,
    one_hot as one_hot,
    relu as relu,
    relu6 as relu6,
    selu as selu,
    sigmoid as sigmoid,
    silu as silu,
    silu as swish,
    softmax as softmax,
    softplus as softplus,
    tanh as tanh
)
from pybraintrace._core.optim import (
    clip_grad_norm as clip_grad_norm,
    clip_grad_value as clip_grad_value
)
import pybraintrace._core.spiking
from pybraintrace._core.spiking import (
    COBA as COBA,
    CUBA as CUBA,
    MgBlock as MgBlock,
    Neuron as Neuron,
    Surrogate as Surrogate,
    Synapse as Synapse,
    SynapseOutput as SynapseOutput,
    exp_euler as exp_euler
)
from pybraintrace._modules import (
    init_all_states as init_all_states,
    reset_all_states as reset_all_states
)
from pybraintrace._pickle import (
    remembering as remembering
)


__all__: list = ['Module', 'Sequential', 'celu', 'clip_grad_norm', 'clip_grad_value', 'elu', 'exp_euler', 'exp_euler_step', 'gelu', 'hard_sigmoid', 'hard_silu', 'hard_swish', 'hard_tanh', 'init_all_states', 'leaky_relu', 'log_sigmoid', 'log_softmax', 'logsumexp', 'one_hot', 'relu', 'relu6', 'reset_all_states', 'selu', 'sigmoid', 'silu', 'softmax', 'softplus', 'swish', 'tanh', 'Activation', 'AdaptiveAvgPool1d', 'AdaptiveAvgPool2d', 'AdaptiveAvgPool3d', 'AdaptiveMaxPool1d', 'AdaptiveMaxPool2d', 'AdaptiveMaxPool3d', 'AvgPool1d', 'AvgPool2d', 'AvgPool3d', 'BatchNorm0d', 'BatchNorm1d', 'BatchNorm2d', 'BatchNorm3d', 'CELU', 'CFNCell', 'Conv1d', 'Conv2d', 'Conv3d', 'Dropout', 'Dropout1d', 'Dropout2d', 'Dropout3d', 'ELU', 'Embedding', 'Flatten', 'GELU', 'GLU', 'GRUCell', 'GroupNorm', 'GroupedLinear', 'Hardshrink', 'Hardsigmoid', 'Hardswish', 'Hardtanh', 'Identity', 'KappaFilter', 'LRUCell', 'LSTMCell', 'LayerNorm', 'LeakyReLU', 'Linear', 'LoRA', 'LogSigmoid', 'LogSoftmax', 'MGUCell', 'MaxPool1d', 'MaxPool2d', 'MaxPool3d', 'MiniGRU', 'MiniLSTM', 'MinimalRNNCell', 'Mish', 'PReLU', 'PlainLinear', 'RMSNorm', 'RReLU', 'ReLU', 'ReLU6', 'SELU', 'ScaledWSLinear', 'SiLU', 'Sigmoid', 'SignedWLinear', 'Softmax', 'Softmax2d', 'Softmin', 'Softplus', 'Softshrink', 'Softsign', 'SparseLinear', 'SparsePattern', 'SpikeBitwise', 'Tanh', 'Tanhshrink', 'URLSTMCell', 'Unflatten', 'ValinaRNNCell', 'VanillaRNNCell', 'ALIF', 'ALIFRef', 'AdExIF', 'AdExIFRef', 'AdQuaIF', 'AdQuaIFRef', 'AlignPostProj', 'AlignPreProj', 'Alpha', 'COBA', 'CUBA', 'CobaLIF', 'CubaLI', 'CubaLIF', 'CurrentProj', 'Delay', 'DeltaProj', 'DualExpon', 'ExpIF', 'ExpIFRef', 'Expon', 'FilteredLIF', 'FirstSpikeReadout', 'GIF', 'Gif', 'GifRef', 'IF', 'Izhikevich', 'LI', 'LIF', 'LIFRef', 'LeakyRateReadout', 'LeakySpikeReadout', 'LearnableDelay', 'MgBlock', 'Neuron', 'PerfectIF', 'PerfectIntegrator', 'QuaIF', 'STD', 'STP', 'Scale', 'SpikeCountReadout', 'Surrogate', 'Synapse', 'SynapseOutput', 'Threshold']

class Activation(pybraintrace._core.layers.Activation):
    """An activation, by name or as a function, as a layer."""

class AdaptiveAvgPool1d(pybraintrace._core.layers.AdaptiveAvgPool1d):
    """Cuts each spatial axis into as many parts as asked and reduces each."""

class AdaptiveAvgPool2d(pybraintrace._core.layers.AdaptiveAvgPool2d):
    """Cuts each spatial axis into as many parts as asked and reduces each."""

class AdaptiveAvgPool3d(pybraintrace._core.layers.AdaptiveAvgPool3d):
    """Cuts each spatial axis into as many parts as asked and reduces each."""

class AdaptiveMaxPool1d(pybraintrace._core.layers.AdaptiveMaxPool1d):
    """Cuts each spatial axis into as many parts as asked and reduces each."""

class AdaptiveMaxPool2d(pybraintrace._core.layers.AdaptiveMaxPool2d):
    """Cuts each spatial axis into as many parts as asked and reduces each."""

class AdaptiveMaxPool3d(pybraintrace._core.layers.AdaptiveMaxPool3d):
    """Cuts each spatial axis into as many parts as asked and reduces each."""

class AvgPool1d(pybraintrace._core.layers.AvgPool1d):
    """Pooling over windows of the axes before the channels (last axis)."""

class AvgPool2d(pybraintrace._core.layers.AvgPool2d):
    """Pooling over windows of the axes before the channels (last axis)."""

class AvgPool3d(pybraintrace._core.layers.AvgPool3d):
    """Pooling over windows of the axes before the channels (last axis)."""

class BatchNorm0d(pybraintrace._core.layers.BatchNorm0d):
    """
    Normalized per channel (last axis): by the batch while training, by running statistics otherwise.
    """

class BatchNorm1d(pybraintrace._core.layers.BatchNorm1d):
    """
    Normalized per channel (last axis): by the batch while training, by running statistics otherwise.
    """

class BatchNorm2d(pybraintrace._core.layers.BatchNorm2d):
    """
    Normalized per channel (last axis): by the batch while training, by running statistics otherwise.
    """

class BatchNorm3d(pybraintrace._core.layers.BatchNorm3d):
    """
    Normalized per channel (last axis): by the batch while training, by running statistics otherwise.
    """

class CELU(pybraintrace._core.layers.CELU):
    """An activation function as a layer."""

class CFNCell(pybraintrace._core.layers.CFNCell):
    """Chaos-free network: h = f phi(h) + i phi(Wh x)."""

class Conv1d(pybraintrace._core.layers.Conv1d):
    """
    Cross-correlation over one axis. in_size (L, C), or in_channels alone with channels first.
    """

class Conv2d(pybraintrace._core.layers.Conv2d):
    """
    Cross-correlation over two axes. in_size (H, W, C), or in_channels alone with channels first.
    """

class Conv3d(pybraintrace._core.layers.Conv3d):
    """
    Cross-correlation over three axes. in_size (D, H, W, C), or in_channels alone with channels first.
    """

class Dropout(pybraintrace._core.layers.Dropout):
    """
    While training, keeps each element with probability `prob` and scales it by 1/prob.
    """

class Dropout1d(pybraintrace._core.layers.Dropout1d):
    """
    While training, keeps each element with probability `prob` and scales it by 1/prob.
    """

class Dropout2d(pybraintrace._core.layers.Dropout2d):
    """
    While training, keeps each element with probability `prob` and scales it by 1/prob.
    """

class Dropout3d(pybraintrace._core.layers.Dropout3d):
    """
    While training, keeps each element with probability `prob` and scales it by 1/prob.
    """

class ELU(pybraintrace._core.layers.ELU):
    """An activation function as a layer."""

class Embedding(pybraintrace._core.layers.Embedding):
    """y = W[i], rows of a table that learns online."""

class Flatten(pybraintrace._core.layers.Flatten):
    """All axes but the batch as one."""

class GELU(pybraintrace._core.layers.GELU):
    """An activation function as a layer."""

class GLU(pybraintrace._core.layers.GLU):
    """Gated linear unit: a s(b) with [a;b] on the last axis."""

class GRUCell(pybraintrace._core.layers.GRUCell):
    """
    Gated recurrent unit: z = s(Wz[x;h]), r = s(Wr[x;h]), h = (1-z) h + z phi(Wh[x;r h]).
    """

class GroupNorm(pybraintrace._core.layers.GroupNorm):
    """LayerNorm within groups of channels."""

class GroupedLinear(pybraintrace._core.layers.GroupedLinear):
    """y_g = x_g W_g + b_g, products side by side."""

class Hardshrink(pybraintrace._core.layers.Hardshrink):
    """An activation function as a layer."""

class Hardsigmoid(pybraintrace._core.layers.Hardsigmoid):
    """An activation function as a layer."""

class Hardswish(pybraintrace._core.layers.Hardswish):
    """An activation function as a layer."""

class Hardtanh(pybraintrace._core.layers.Hardtanh):
    """An activation function as a layer."""

class Identity(pybraintrace._core.layers.Identity):
    """An activation function as a layer."""

class KappaFilter(pybraintrace._core.layers.KappaFilter):
    """A running average: a = kappa a + (1-kappa) x."""

class LRUCell(pybraintrace._core.layers.LRUCell):
    """Linear recurrent unit: a diagonal complex recurrence in real numbers."""

class LSTMCell(pybraintrace._core.layers.LSTMCell):
    """Long short-term memory, with one added to the forget gate."""

class LayerNorm(pybraintrace._core.layers.LayerNorm):
    """Normalized over the last axis."""

class LeakyReLU(pybraintrace._core.layers.LeakyReLU):
    """An activation function as a layer."""

class Linear(pybraintrace._core.layers.Linear):
    """y = x W + b; W and b learn online."""

class LoRA(pybraintrace._core.layers.LoRA):
    """y = alpha x A B + base(x), a product of low rank."""

class LogSigmoid(pybraintrace._core.layers.LogSigmoid):
    """An activation function as a layer."""

class LogSoftmax(pybraintrace._core.layers.LogSoftmax):
    """An activation function as a layer."""

class MGUCell(pybraintrace._core.layers.MGUCell):
    """Minimal gated unit: f = s(Wf[x;h]), h = (1-f) h + f phi(Wh[x;f h])."""

class MaxPool1d(pybraintrace._core.layers.MaxPool1d):
    """Pooling over windows of the axes before the channels (last axis)."""

class MaxPool2d(pybraintrace._core.layers.MaxPool2d):
    """Pooling over windows of the axes before the channels (last axis)."""

class MaxPool3d(pybraintrace._core.layers.MaxPool3d):
    """Pooling over windows of the axes before the channels (last axis)."""

class MiniGRU(pybraintrace._core.layers.MiniGRU):
    """z = s(W_z[x;h]), h = (1-z) h + z (W_x x)."""

class MiniLSTM(pybraintrace._core.layers.MiniLSTM):
    """h = f h + i (W_x x)."""

class MinimalRNNCell(pybraintrace._core.layers.MinimalRNNCell):
    """z = phi(x), f = s(W_u[z;h]), h = f h + (1-f) z."""

class Mish(pybraintrace._core.layers.Mish):
    """An activation function as a layer."""

class PReLU(pybraintrace._core.layers.PReLU):
    """x where x > 0, else a x with a trainable a."""

class PlainLinear(pybraintrace._core.layers.PlainLinear):
    """
    y = x W + b as a plain product: W and b get the same-step gradient only.
    """

class RMSNorm(pybraintrace._core.layers.RMSNorm):
    """Divided by the root of the mean square over the last axis."""

class RReLU(pybraintrace._core.layers.RReLU):
    """An activation function as a layer."""

class ReLU(pybraintrace._core.layers.ReLU):
    """An activation function as a layer."""

class ReLU6(pybraintrace._core.layers.ReLU6):
    """An activation function as a layer."""

class SELU(pybraintrace._core.layers.SELU):
    """An activation function as a layer."""

class ScaledWSLinear(pybraintrace._core.layers.ScaledWSLinear):
    """y = (x Wn) g + b with the weights of each output standardized."""

class SiLU(pybraintrace._core.layers.SiLU):
    """An activation function as a layer."""

class Sigmoid(pybraintrace._core.layers.Sigmoid):
    """An activation function as a layer."""

class SignedWLinear(pybraintrace._core.layers.SignedWLinear):
    """y = x (|W| sign): every weight keeps its sign."""

class Softmax(pybraintrace._core.layers.Softmax):
    """An activation function as a layer."""

class Softmax2d(pybraintrace._core.layers.Softmax2d):
    """An activation function as a layer."""

class Softmin(pybraintrace._core.layers.Softmin):
    """An activation function as a layer."""

class Softplus(pybraintrace._core.layers.Softplus):
    """An activation function as a layer."""

class Softshrink(pybraintrace._core.layers.Softshrink):
    """An activation function as a layer."""

class Softsign(pybraintrace._core.layers.Softsign):
    """An activation function as a layer."""

class SparseLinear(pybraintrace._core.layers.SparseLinear):
    """
    y = x W + b with a sparse W of a fixed pattern, given as SparsePattern or SciPy matrix.
    """

class SpikeBitwise(pybraintrace._core.layers.SpikeBitwise):
    """
    Spikes of two populations combined as bits: add, or, and, xor, iand, ixor.
    """

class Tanh(pybraintrace._core.layers.Tanh):
    """An activation function as a layer."""

class Tanhshrink(pybraintrace._core.layers.Tanhshrink):
    """An activation function as a layer."""

class URLSTMCell(pybraintrace._core.layers.URLSTMCell):
    """LSTM with refined, uniformly initialized gates."""

class Unflatten(pybraintrace._core.layers.Unflatten):
    """The last axis as these axes."""

class ValinaRNNCell(pybraintrace._core.layers.ValinaRNNCell):
    """h = phi(W[x;h]), phi = relu."""

VanillaRNNCell: TypeAlias = ValinaRNNCell

class ALIF(pybraintrace._core.spiking.ALIF):
    """
    LIF with an adaptive threshold: tau_a da/dt = -a, a grows by one per spike.
    """

class ALIFRef(pybraintrace._core.spiking.ALIFRef):
    """ALIF that rests for tau_ref after a spike."""

class AdExIF(pybraintrace._core.spiking.AdExIF):
    """Exponential integrate and fire with adaptation."""

class AdExIFRef(pybraintrace._core.spiking.AdExIFRef):
    """AdExIF that rests for tau_ref after a spike."""

class AdQuaIF(pybraintrace._core.spiking.AdQuaIF):
    """Quadratic integrate and fire with adaptation."""

class AdQuaIFRef(pybraintrace._core.spiking.AdQuaIFRef):
    """AdQuaIF that rests for tau_ref after a spike."""

class AlignPostProj(pybraintrace._core.spiking.AlignPostProj):
    """comm(x) drives a synapse that `post` steps before itself."""

class AlignPreProj(pybraintrace._core.spiking.AlignPreProj):
    """A synapse of the size of its source; comm(g) reaches `post`."""

class Alpha(pybraintrace._core.spiking.Alpha):
    """tau dg/dt = -g + h, tau dh/dt = -h."""

class CobaLIF(pybraintrace._core.spiking.CobaLIF):
    """LIF with its own exponential synapse: conductance."""

class CubaLI(pybraintrace._core.spiking.CubaLI):
    """LI of a current: tau_syn dI/dt = -I + w_in x."""

class CubaLIF(pybraintrace._core.spiking.CubaLIF):
    """LIF with its own exponential synapse: current."""

class CurrentProj(pybraintrace._core.spiking.CurrentProj):
    """comm(x) itself is the conductance of this step."""

class Delay(pybraintrace._core.spiking.Delay):
    """x of some steps ago; zeros before that."""

class DeltaProj(pybraintrace._core.spiking.DeltaProj):
    """comm(x) is added to the potential of `post` after its next step."""

class DualExpon(pybraintrace._core.spiking.DualExpon):
    """The difference of two exponentials."""

class ExpIF(pybraintrace._core.spiking.ExpIF):
    """Exponential integrate and fire."""

class ExpIFRef(pybraintrace._core.spiking.ExpIFRef):
    """ExpIF that rests for tau_ref after a spike."""

class Expon(pybraintrace._core.spiking.Expon):
    """tau dg/dt = -g; g grows by its input."""

class FilteredLIF(pybraintrace._core.spiking.FilteredLIF):
    """LIF of a current: tau_syn dI/dt = -I + w_in x."""

class FirstSpikeReadout(pybraintrace._core.spiking.FirstSpikeReadout):
    """The time (ms) of the first spike of each unit."""

class GIF(pybraintrace._core.spiking.GIF):
    """Integrate and fire with one spike-triggered current."""

class Gif(pybraintrace._core.spiking.Gif):
    """Two spike-triggered currents and a moving threshold."""

class GifRef(pybraintrace._core.spiking.GifRef):
    """Gif that rests for tau_ref after a spike."""

class IF(pybraintrace._core.spiking.IF):
    """LIF with V_reset = V_rest = 0."""

class Izhikevich(pybraintrace._core.spiking.Izhikevich):
    """dv/dt = 0.04 v^2 + 5 v + 140 - u + I, du/dt = a (b v - u)."""

class LI(pybraintrace._core.spiking.LI):
    """Leaky integrator: tau dv/dt = V_rest - v + R x; gives v."""

class LIF(pybraintrace._core.spiking.LIF):
    """Leaky integrate and fire: tau dv/dt = -v + V_rest + R I."""

class LIFRef(pybraintrace._core.spiking.LIFRef):
    """LIF that rests for tau_ref after a spike."""

class LeakyRateReadout(pybraintrace._core.spiking.LeakyRateReadout):
    """r = e^(-dt/tau) r + x W; returns r."""

class LeakySpikeReadout(pybraintrace._core.spiking.LeakySpikeReadout):
    """A LIF population as output."""

class LearnableDelay(pybraintrace._core.spiking.LearnableDelay):
    """
    x of some time ago, one delay in ms for each unit; delays learn, between steps too.
    """

class PerfectIF(pybraintrace._core.spiking.PerfectIF):
    """Integrate and fire without leak: dv/dt = R x."""

class PerfectIntegrator(pybraintrace._core.spiking.PerfectIntegrator):
    """dv/dt = R x; gives v."""

class QuaIF(pybraintrace._core.spiking.QuaIF):
    """Quadratic integrate and fire."""

class STD(pybraintrace._core.spiking.STD):
    """Short-term depression of spikes."""

class STP(pybraintrace._core.spiking.STP):
    """Short-term plasticity of spikes."""

class Scale(pybraintrace._core.spiking.Scale):
    """x times a trainable factor for each unit."""

class SpikeCountReadout(pybraintrace._core.spiking.SpikeCountReadout):
    """Counts the spikes it is given."""

class Threshold(pybraintrace._core.spiking.Threshold):
    """1 where x > threshold, else 0."""

class Sequential(pybraintrace._core.Module):
    """
    Layers in order, named by their position.

        >>> import pybraintrace as bt
        >>> bt.nn.Sequential(bt.nn.Linear(2, 3), bt.nn.ReLU())(bt.numpy.zeros(2)).shape
        (3,)
    """

    def __init__(self, *layers: Any) -> None: ...

    def update(self, x: Any) -> Any:
        """Each layer on the result of the one before."""

    def __getitem__(self, index: int) -> Any: ...

    def __len__(self) -> int: ...

def exp_euler_step(f: Any, v: Any, *args: Any, dt: Any = None) -> Tensor:
    """One exponential Euler step of dv/dt = f(v, *args)."""
