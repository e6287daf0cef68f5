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
    """Apply an activation, given by name or as a function."""

class AdaptiveAvgPool1d(pybraintrace._core.layers.AdaptiveAvgPool1d):
    """
    Pooling to a given spatial size, with channels last.

    Args:
        target_size: number of windows, one number or one per spatial axis; must divide the size of the axis.
    """

class AdaptiveAvgPool2d(pybraintrace._core.layers.AdaptiveAvgPool2d):
    """
    Pooling to a given spatial size, with channels last.

    Args:
        target_size: number of windows, one number or one per spatial axis; must divide the size of the axis.
    """

class AdaptiveAvgPool3d(pybraintrace._core.layers.AdaptiveAvgPool3d):
    """
    Pooling to a given spatial size, with channels last.

    Args:
        target_size: number of windows, one number or one per spatial axis; must divide the size of the axis.
    """

class AdaptiveMaxPool1d(pybraintrace._core.layers.AdaptiveMaxPool1d):
    """
    Pooling to a given spatial size, with channels last.

    Args:
        target_size: number of windows, one number or one per spatial axis; must divide the size of the axis.
    """

class AdaptiveMaxPool2d(pybraintrace._core.layers.AdaptiveMaxPool2d):
    """
    Pooling to a given spatial size, with channels last.

    Args:
        target_size: number of windows, one number or one per spatial axis; must divide the size of the axis.
    """

class AdaptiveMaxPool3d(pybraintrace._core.layers.AdaptiveMaxPool3d):
    """
    Pooling to a given spatial size, with channels last.

    Args:
        target_size: number of windows, one number or one per spatial axis; must divide the size of the axis.
    """

class AvgPool1d(pybraintrace._core.layers.AvgPool1d):
    """
    Pooling over windows of the spatial axes, with channels last.

    Args:
        kernel_size: window, one number or one per spatial axis.
        stride: step of the window, default `kernel_size`.
        padding: 'SAME', 'VALID', a number, or (before, after) per spatial axis.
    """

class AvgPool2d(pybraintrace._core.layers.AvgPool2d):
    """
    Pooling over windows of the spatial axes, with channels last.

    Args:
        kernel_size: window, one number or one per spatial axis.
        stride: step of the window, default `kernel_size`.
        padding: 'SAME', 'VALID', a number, or (before, after) per spatial axis.
    """

class AvgPool3d(pybraintrace._core.layers.AvgPool3d):
    """
    Pooling over windows of the spatial axes, with channels last.

    Args:
        kernel_size: window, one number or one per spatial axis.
        stride: step of the window, default `kernel_size`.
        padding: 'SAME', 'VALID', a number, or (before, after) per spatial axis.
    """

class BatchNorm0d(pybraintrace._core.layers.BatchNorm0d):
    """
    Batch normalization per channel (last axis): statistics of the batch in training, running statistics otherwise.

    Args:
        in_size: number of channels, or shape of one sample.
        momentum: decay of the running statistics.
        epsilon: added to the variance.
        affine: whether there is a trainable scale and bias.
    """

class BatchNorm1d(pybraintrace._core.layers.BatchNorm1d):
    """
    Batch normalization per channel (last axis): statistics of the batch in training, running statistics otherwise.

    Args:
        in_size: number of channels, or shape of one sample.
        momentum: decay of the running statistics.
        epsilon: added to the variance.
        affine: whether there is a trainable scale and bias.
    """

class BatchNorm2d(pybraintrace._core.layers.BatchNorm2d):
    """
    Batch normalization per channel (last axis): statistics of the batch in training, running statistics otherwise.

    Args:
        in_size: number of channels, or shape of one sample.
        momentum: decay of the running statistics.
        epsilon: added to the variance.
        affine: whether there is a trainable scale and bias.
    """

class BatchNorm3d(pybraintrace._core.layers.BatchNorm3d):
    """
    Batch normalization per channel (last axis): statistics of the batch in training, running statistics otherwise.

    Args:
        in_size: number of channels, or shape of one sample.
        momentum: decay of the running statistics.
        epsilon: added to the variance.
        affine: whether there is a trainable scale and bias.
    """

class CELU(pybraintrace._core.layers.CELU):
    """
    Continuously differentiable ELU: x where x > 0, else alpha (exp(x/alpha) - 1).
    """

class CFNCell(pybraintrace._core.layers.CFNCell):
    """
    Chaos-free network (Laurent & von Brecht 2016).

    With s the logistic function: f = s(Wf[x;h]), i = s(Wi[x;h]), h = f phi(h) + i phi(Wh x).

    Args:
        in_size: number of inputs.
        out_size: number of hidden units.
        w_init: initializer of the weights.
        b_init: initializer of the biases; None for no bias.
        state_init: initializer of the state.
        activation: name or function of phi.
        name: ignored.
    """

class Conv1d(pybraintrace._core.layers.Conv1d):
    """
    Convolution (cross-correlation) over one axis, whose kernel and bias learn online.

    Args:
        in_size: (*spatial, channels); or the number of channels alone, for channels first and any spatial size.
        out_channels: number of output channels.
        kernel_size: one number, or one per spatial axis.
        stride: one number, or one per spatial axis.
        padding: 'SAME', 'VALID', a number, or (before, after) per spatial axis.
        lhs_dilation: dilation of the input.
        rhs_dilation: dilation of the kernel.
        groups: number of channel groups.
        w_init: initializer of the kernel.
        b_init: initializer of the bias; None for no bias.
        w_mask: array or function of the shape that multiplies the kernel.
        channel_first: whether `in_size` starts with the channels.
        name: ignored.
    """

class Conv2d(pybraintrace._core.layers.Conv2d):
    """
    Convolution (cross-correlation) over two axes, whose kernel and bias learn online.

    Args:
        in_size: (*spatial, channels); or the number of channels alone, for channels first and any spatial size.
        out_channels: number of output channels.
        kernel_size: one number, or one per spatial axis.
        stride: one number, or one per spatial axis.
        padding: 'SAME', 'VALID', a number, or (before, after) per spatial axis.
        lhs_dilation: dilation of the input.
        rhs_dilation: dilation of the kernel.
        groups: number of channel groups.
        w_init: initializer of the kernel.
        b_init: initializer of the bias; None for no bias.
        w_mask: array or function of the shape that multiplies the kernel.
        channel_first: whether `in_size` starts with the channels.
        name: ignored.
    """

class Conv3d(pybraintrace._core.layers.Conv3d):
    """
    Convolution (cross-correlation) over three axes, whose kernel and bias learn online.

    Args:
        in_size: (*spatial, channels); or the number of channels alone, for channels first and any spatial size.
        out_channels: number of output channels.
        kernel_size: one number, or one per spatial axis.
        stride: one number, or one per spatial axis.
        padding: 'SAME', 'VALID', a number, or (before, after) per spatial axis.
        lhs_dilation: dilation of the input.
        rhs_dilation: dilation of the kernel.
        groups: number of channel groups.
        w_init: initializer of the kernel.
        b_init: initializer of the bias; None for no bias.
        w_mask: array or function of the shape that multiplies the kernel.
        channel_first: whether `in_size` starts with the channels.
        name: ignored.
    """

class Dropout(pybraintrace._core.layers.Dropout):
    """
    Dropout: in training, keep each element with probability `prob` and scale it by 1/prob.
    """

class Dropout1d(pybraintrace._core.layers.Dropout1d):
    """
    Dropout: in training, keep each element with probability `prob` and scale it by 1/prob.
    """

class Dropout2d(pybraintrace._core.layers.Dropout2d):
    """
    Dropout: in training, keep each element with probability `prob` and scale it by 1/prob.
    """

class Dropout3d(pybraintrace._core.layers.Dropout3d):
    """
    Dropout: in training, keep each element with probability `prob` and scale it by 1/prob.
    """

class ELU(pybraintrace._core.layers.ELU):
    """Exponential linear unit: x where x > 0, else alpha (exp(x) - 1)."""

class Embedding(pybraintrace._core.layers.Embedding):
    """
    Table of vectors, indexed by integers, that learns online.

    Args:
        num_embeddings: number of rows.
        embedding_size: length of each vector.
        w_init: initializer of the table.
    """

class Flatten(pybraintrace._core.layers.Flatten):
    """
    Flatten all axes but the batch axis.

    Args:
        in_size: shape of one sample; by default, the first axis is the batch axis.
    """

class GELU(pybraintrace._core.layers.GELU):
    """
    Gaussian error linear unit: x Phi(x), Phi the normal distribution function; `approximate` uses tanh.
    """

class GLU(pybraintrace._core.layers.GLU):
    """
    Gated linear unit: a sigmoid(b), where a and b are the halves of the last axis.
    """

class GRUCell(pybraintrace._core.layers.GRUCell):
    """
    Gated recurrent unit (Cho et al. 2014).

    With s the logistic function: z = s(Wz[x;h]), r = s(Wr[x;h]), h = (1-z) h + z phi(Wh[x;r h]).

    Args:
        in_size: number of inputs.
        out_size: number of hidden units.
        w_init: initializer of the weights.
        b_init: initializer of the biases; None for no bias.
        state_init: initializer of the state.
        activation: name or function of phi.
        name: ignored.
    """

class GroupNorm(pybraintrace._core.layers.GroupNorm):
    """
    Group normalization: layer normalization within groups of channels and over spatial axes.
    """

class GroupedLinear(pybraintrace._core.layers.GroupedLinear):
    """
    Independent linear layers, one per group: y_g = x_g W_g + b_g.

    Args:
        num_groups: number of groups G.
        in_features: inputs of each group; x is [..., G, in_features].
        out_features: outputs of each group.
        w_init: initializer of the weights.
        b_init: initializer of the biases; None for no bias.
    """

class Hardshrink(pybraintrace._core.layers.Hardshrink):
    """x where |x| > lambd, else 0."""

class Hardsigmoid(pybraintrace._core.layers.Hardsigmoid):
    """Piecewise linear sigmoid: relu6(x + 3) / 6."""

class Hardswish(pybraintrace._core.layers.Hardswish):
    """x relu6(x + 3) / 6."""

class Hardtanh(pybraintrace._core.layers.Hardtanh):
    """x limited to [min_val, max_val]."""

class Identity(pybraintrace._core.layers.Identity):
    """Return the input unchanged."""

class KappaFilter(pybraintrace._core.layers.KappaFilter):
    """
    Exponential moving average a = kappa a + (1-kappa) x.

    Args:
        init: initial average.
        kappa: decay per step.
    """

class LRUCell(pybraintrace._core.layers.LRUCell):
    """
    Linear recurrent unit (Orvieto et al. 2023): a diagonal complex recurrence in real numbers.

    Args:
        d_model: number of inputs and outputs.
        d_hidden: number of complex hidden units.
        r_min: smallest initial modulus of the eigenvalues.
        r_max: largest initial modulus.
        max_phase: largest initial phase.
        state_init: initializer of the state.
    """

class LSTMCell(pybraintrace._core.layers.LSTMCell):
    """
    Long short-term memory (Hochreiter & Schmidhuber 1997).

    With s the logistic function: c = s(Wf[x;h] + 1) c + s(Wi[x;h]) phi(Wg[x;h]), h = s(Wo[x;h]) phi(c).

    Args:
        in_size: number of inputs.
        out_size: number of hidden units.
        w_init: initializer of the weights.
        b_init: initializer of the biases; None for no bias.
        state_init: initializer of the state.
        activation: name or function of phi.
        name: ignored.
    """

class LayerNorm(pybraintrace._core.layers.LayerNorm):
    """
    Layer normalization over the last axis.

    Args:
        in_size: number of features, or shape of one sample.
        epsilon: added to the variance.
        use_scale: whether there is a trainable scale.
        use_bias: whether there is a trainable bias.
        use_fast_variance: compute the variance in one pass.
    """

class LeakyReLU(pybraintrace._core.layers.LeakyReLU):
    """Leaky ReLU: x where x > 0, else negative_slope x."""

class Linear(pybraintrace._core.layers.Linear):
    """
    Linear layer y = x W + b, whose weight and bias learn online.

    Args:
        in_size: number of inputs, or input shape.
        out_size: number of outputs, or output shape.
        w_init: initializer of the weight.
        b_init: initializer of the bias; None for no bias.
        w_mask: array or function of the shape that multiplies the weight.
        name: ignored.
    """

class LoRA(pybraintrace._core.layers.LoRA):
    """
    Low-rank adapter y = alpha x A B + base(x).

    Args:
        in_features: number of inputs.
        lora_rank: rank of the product.
        out_features: number of outputs.
        base_module: layer whose output is added; None for none.
        kernel_init: initializer of A; B starts at zero.
        alpha: scale, default 1/rank.
    """

class LogSigmoid(pybraintrace._core.layers.LogSigmoid):
    """Logarithm of the sigmoid."""

class LogSoftmax(pybraintrace._core.layers.LogSoftmax):
    """Logarithm of the softmax along an axis."""

class MGUCell(pybraintrace._core.layers.MGUCell):
    """
    Minimal gated unit (Zhou et al. 2016).

    With s the logistic function: f = s(Wf[x;h]), h = (1-f) h + f phi(Wh[x;f h]).

    Args:
        in_size: number of inputs.
        out_size: number of hidden units.
        w_init: initializer of the weights.
        b_init: initializer of the biases; None for no bias.
        state_init: initializer of the state.
        activation: name or function of phi.
        name: ignored.
    """

class MaxPool1d(pybraintrace._core.layers.MaxPool1d):
    """
    Pooling over windows of the spatial axes, with channels last.

    Args:
        kernel_size: window, one number or one per spatial axis.
        stride: step of the window, default `kernel_size`.
        padding: 'SAME', 'VALID', a number, or (before, after) per spatial axis.
    """

class MaxPool2d(pybraintrace._core.layers.MaxPool2d):
    """
    Pooling over windows of the spatial axes, with channels last.

    Args:
        kernel_size: window, one number or one per spatial axis.
        stride: step of the window, default `kernel_size`.
        padding: 'SAME', 'VALID', a number, or (before, after) per spatial axis.
    """

class MaxPool3d(pybraintrace._core.layers.MaxPool3d):
    """
    Pooling over windows of the spatial axes, with channels last.

    Args:
        kernel_size: window, one number or one per spatial axis.
        stride: step of the window, default `kernel_size`.
        padding: 'SAME', 'VALID', a number, or (before, after) per spatial axis.
    """

class MiniGRU(pybraintrace._core.layers.MiniGRU):
    """
    GRU with a linear candidate.

    With s the logistic function: z = s(W_z[x;h]), h = (1-z) h + z (W_x x).

    Args:
        in_size: number of inputs.
        out_size: number of hidden units.
        w_init: initializer of the weights.
        b_init: initializer of the biases; None for no bias.
        state_init: initializer of the state.
        activation: name or function of phi.
        name: ignored.
    """

class MiniLSTM(pybraintrace._core.layers.MiniLSTM):
    """
    LSTM with a linear candidate.

    With s the logistic function: f = s(W_f[x;h]), i = s(W_i[x;h]), h = f h + i (W_x x).

    Args:
        in_size: number of inputs.
        out_size: number of hidden units.
        w_init: initializer of the weights.
        b_init: initializer of the biases; None for no bias.
        state_init: initializer of the state.
        activation: name or function of phi.
        name: ignored.
    """

class MinimalRNNCell(pybraintrace._core.layers.MinimalRNNCell):
    """
    Minimal recurrent network (Chen 2017).

    With s the logistic function: z = phi(x), f = s(W_u[z;h]), h = f h + (1-f) z.

    Args:
        in_size: number of inputs.
        out_size: number of hidden units.
        w_init: initializer of the weights.
        b_init: initializer of the biases; None for no bias.
        state_init: initializer of the state.
        activation: name or function of phi.
        name: ignored.
    """

class Mish(pybraintrace._core.layers.Mish):
    """x tanh(softplus(x))."""

class PReLU(pybraintrace._core.layers.PReLU):
    """
    ReLU with a trainable slope: x where x > 0, else a x.

    Args:
        num_parameters: number of slopes: 1, or one per feature.
        init: initial slope.
    """

class PlainLinear(pybraintrace._core.layers.PlainLinear):
    """
    Linear layer y = x W + b, whose weight and bias get the gradient of the current step only.

    Args:
        in_size: number of inputs, or input shape.
        out_size: number of outputs, or output shape.
        w_init: initializer of the weight.
        b_init: initializer of the bias; None for no bias.
    """

class RMSNorm(pybraintrace._core.layers.RMSNorm):
    """
    Root mean square normalization over the last axis, with a trainable scale.
    """

class RReLU(pybraintrace._core.layers.RReLU):
    """
    Randomized leaky ReLU: in training, the slope of each element is uniform in [lower, upper]; otherwise it is their mean.
    """

class ReLU(pybraintrace._core.layers.ReLU):
    """max(x, 0)."""

class ReLU6(pybraintrace._core.layers.ReLU6):
    """min(max(x, 0), 6)."""

class SELU(pybraintrace._core.layers.SELU):
    """Scaled exponential linear unit."""

class ScaledWSLinear(pybraintrace._core.layers.ScaledWSLinear):
    """
    Linear layer with weight standardization: the weights of each output have zero mean and unit variance.

    Args:
        in_size: number of inputs, or input shape.
        out_size: number of outputs, or output shape.
        w_init: initializer of the weight.
        b_init: initializer of the bias; None for no bias.
        w_mask: array or function of the shape that multiplies the weight.
        ws_gain: whether each output has a trainable gain.
        eps: added to the variance.
        name: ignored.
    """

class SiLU(pybraintrace._core.layers.SiLU):
    """Sigmoid linear unit: x sigmoid(x)."""

class Sigmoid(pybraintrace._core.layers.Sigmoid):
    """Logistic function: 1 / (1 + exp(-x))."""

class SignedWLinear(pybraintrace._core.layers.SignedWLinear):
    """
    Linear layer y = x (|W| sign), whose weights keep their signs.

    Args:
        in_size: number of inputs, or input shape.
        out_size: number of outputs, or output shape.
        w_init: initializer of the weight.
        w_sign: the signs; None for all positive.
        name: ignored.
    """

class Softmax(pybraintrace._core.layers.Softmax):
    """Softmax along an axis."""

class Softmax2d(pybraintrace._core.layers.Softmax2d):
    """Softmax over the channels of [..., C, H, W]."""

class Softmin(pybraintrace._core.layers.Softmin):
    """Softmax of -x along an axis."""

class Softplus(pybraintrace._core.layers.Softplus):
    """log(1 + exp(beta x)) / beta."""

class Softshrink(pybraintrace._core.layers.Softshrink):
    """x shrunk toward 0 by lambd."""

class Softsign(pybraintrace._core.layers.Softsign):
    """x / (1 + |x|)."""

class SparseLinear(pybraintrace._core.layers.SparseLinear):
    """
    Linear layer with a sparse weight of fixed pattern, whose stored values learn online.

    Args:
        spar_mat: a SparsePattern, or a SciPy matrix in CSR or COO format.
        values: initial values of the entries; by default those of the SciPy matrix.
        b_init: initializer of the bias; None for no bias.
        in_size: ignored.
        name: ignored.
    """

class SpikeBitwise(pybraintrace._core.layers.SpikeBitwise):
    """
    Combine the spikes of two populations bit by bit.

    Args:
        op: 'add', 'or', 'and', 'xor', 'iand' ((1-x) y) or 'ixor' (x (1-y)); 'not' takes `x` only.
    """

class Tanh(pybraintrace._core.layers.Tanh):
    """tanh(x)."""

class Tanhshrink(pybraintrace._core.layers.Tanhshrink):
    """x - tanh(x)."""

class URLSTMCell(pybraintrace._core.layers.URLSTMCell):
    """
    LSTM with refined, uniformly initialized gates (Gu et al. 2020).

    Args:
        in_size: number of inputs.
        out_size: number of hidden units.
        w_init: initializer of the weights.
        b_init: initializer of the biases; None for no bias.
        state_init: initializer of the state.
        activation: name or function of phi.
        name: ignored.
    """

class Unflatten(pybraintrace._core.layers.Unflatten):
    """Reshape the last axis to the given sizes."""

class ValinaRNNCell(pybraintrace._core.layers.ValinaRNNCell):
    """
    Vanilla recurrent cell h = phi(W[x;h]), default phi = relu.

    Args:
        in_size: number of inputs.
        out_size: number of hidden units.
        w_init: initializer of the weights.
        b_init: initializer of the biases; None for no bias.
        state_init: initializer of the state.
        activation: name or function of phi.
        name: ignored.
    """

VanillaRNNCell: TypeAlias = ValinaRNNCell

class ALIF(pybraintrace._core.spiking.ALIF):
    """
    LIF neurons with an adaptive threshold V_th + beta a: tau_a da/dt = -a, and each spike adds one to a.

    Args:
        in_size: number of neurons, or shape of the population.
        tau_a: time constant of the adaptation (ms).
        beta: threshold increase per unit of adaptation.
        a_initializer: initial adaptation.
        options: keyword options of the membrane, as of `LIF`.
    """

class ALIFRef(pybraintrace._core.spiking.ALIFRef):
    """
    ALIF neurons with a refractory period.

    Args:
        in_size: number of neurons, or shape of the population.
        tau_ref: refractory period (ms).
        tau_a: time constant of the adaptation (ms).
        beta: threshold increase per unit of adaptation.
        options: keyword options of the membrane, as of `LIF`.
    """

class AdExIF(pybraintrace._core.spiking.AdExIF):
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

class AdExIFRef(pybraintrace._core.spiking.AdExIFRef):
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

class AdQuaIF(pybraintrace._core.spiking.AdQuaIF):
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

class AdQuaIFRef(pybraintrace._core.spiking.AdQuaIFRef):
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

class AlignPostProj(pybraintrace._core.spiking.AlignPostProj):
    """
    Projection with a synapse of the size of its target: comm(x) drives it, and `post` updates it before its own step.

    Args:
        comm: layer that connects the populations, such as Linear.
        syn: the synapse.
        out: its effect on the membrane: CUBA, COBA or MgBlock.
        post: the target population.
    """

class AlignPreProj(pybraintrace._core.spiking.AlignPreProj):
    """
    Projection with a synapse of the size of its source: x drives it, and comm(g) reaches `post`.

    Args:
        syn: the synapse.
        comm: layer that connects the populations, such as Linear.
        out: its effect on the membrane: CUBA, COBA or MgBlock.
        post: the target population.
    """

class Alpha(pybraintrace._core.spiking.Alpha):
    """
    Alpha synapse: tau dg/dt = -g + h, tau dh/dt = -h; input is added to h.

    Args:
        in_size: number of neurons, or shape of the population.
        tau: time constant (ms).
        dt: time step (ms); default: that of the environment.
    """

class CobaLIF(pybraintrace._core.spiking.CobaLIF):
    """
    LIF neurons driven through a conductance-based exponential synapse.

    Args:
        in_size: number of neurons, or shape of the population.
        tau_syn: time constant of the synapse (ms).
        E: reversal potential (mV).
        options: keyword options of the membrane, as of `LIF`.
    """

class CubaLI(pybraintrace._core.spiking.CubaLI):
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

class CubaLIF(pybraintrace._core.spiking.CubaLIF):
    """
    LIF neurons driven through a current-based exponential synapse.

    Args:
        in_size: number of neurons, or shape of the population.
        tau_syn: time constant of the synapse (ms).
        options: keyword options of the membrane, as of `LIF`.
    """

class CurrentProj(pybraintrace._core.spiking.CurrentProj):
    """
    Projection without a synapse: comm(x) is the conductance of the current step.

    Args:
        comm: layer that connects the populations, such as Linear.
        out: its effect on the membrane: CUBA, COBA or MgBlock.
        post: the target population.
    """

class Delay(pybraintrace._core.spiking.Delay):
    """
    Delay the input by a fixed number of steps; the output starts with zeros.
    """

class DeltaProj(pybraintrace._core.spiking.DeltaProj):
    """
    Projection that adds comm(x) to the potential of `post` after its next step.

    Args:
        comm: layer that connects the populations, such as Linear.
        post: the target population.
    """

class DualExpon(pybraintrace._core.spiking.DualExpon):
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

class ExpIF(pybraintrace._core.spiking.ExpIF):
    """
    Exponential integrate-and-fire neurons.

    Args:
        in_size: number of neurons, or shape of the population.
        V_T: potential where the exponential rise starts (mV).
        delta_T: slope of the rise (mV).
        options: keyword options of the membrane, as of `LIF`.
    """

class ExpIFRef(pybraintrace._core.spiking.ExpIFRef):
    """
    ExpIF neurons with a refractory period.

    Args:
        in_size: number of neurons, or shape of the population.
        tau_ref: refractory period (ms).
        V_T: potential where the exponential rise starts (mV).
        delta_T: slope of the rise (mV).
        options: keyword options of the membrane, as of `LIF`.
    """

class Expon(pybraintrace._core.spiking.Expon):
    """
    Exponential synapse: tau dg/dt = -g; input is added to g.

    Args:
        in_size: number of neurons, or shape of the population.
        tau: time constant (ms).
        g_initializer: initial g.
        dt: time step (ms); default: that of the environment.
    """

class FilteredLIF(pybraintrace._core.spiking.FilteredLIF):
    """
    LIF neurons with a filtered input: tau_syn dI/dt = -I + w_in x.

    Args:
        in_size: number of neurons, or shape of the population.
        tau_syn: time constant of the synapse (ms).
        w_in: input gain of the synapse.
        options: keyword options of the membrane, as of `LIF`.
    """

class FirstSpikeReadout(pybraintrace._core.spiking.FirstSpikeReadout):
    """
    Return the time (ms) of the first spike of each unit; not differentiable.

    Args:
        in_size: number of units, or shape.
        never: value before the first spike.
        dt: time step (ms); default: that of the environment.
    """

class GIF(pybraintrace._core.spiking.GIF):
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

class Gif(pybraintrace._core.spiking.Gif):
    """
    Generalized integrate-and-fire neurons with two spike-triggered currents and a moving threshold.

    Args:
        in_size: number of neurons, or shape of the population.
        options: keyword options of the membrane, as of `LIF`.
    """

class GifRef(pybraintrace._core.spiking.GifRef):
    """
    Gif neurons with a refractory period.

    Args:
        in_size: number of neurons, or shape of the population.
        tau_ref: refractory period (ms).
        options: keyword options of the membrane, as of `LIF`.
    """

class IF(pybraintrace._core.spiking.IF):
    """
    LIF neurons with V_reset = V_rest = 0.

    Args:
        in_size: number of neurons, or shape of the population.
        options: keyword options of the membrane, as of `LIF`.
    """

class Izhikevich(pybraintrace._core.spiking.Izhikevich):
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

class LI(pybraintrace._core.spiking.LI):
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

class LIF(pybraintrace._core.spiking.LIF):
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

class LIFRef(pybraintrace._core.spiking.LIFRef):
    """
    LIF neurons with a refractory period.

    Args:
        in_size: number of neurons, or shape of the population.
        tau_ref: refractory period (ms).
        options: keyword options of the membrane, as of `LIF`.
    """

class LeakyRateReadout(pybraintrace._core.spiking.LeakyRateReadout):
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

class LeakySpikeReadout(pybraintrace._core.spiking.LeakySpikeReadout):
    """
    Spiking readout: a weight and a LIF population; returns spikes.

    Args:
        in_size: number of inputs, or shape.
        out_size: number of outputs, or shape.
        w_init: initializer of the weight.
        options: keyword options of the membrane, as of `LIF`.
    """

class LearnableDelay(pybraintrace._core.spiking.LearnableDelay):
    """
    Delay each unit by a trainable time, with interpolation between steps.

    Args:
        in_size: number of units, or shape.
        max: largest delay (ms).
        delay: initializer of the delays (ms), default uniform in [0, max].
        dt: time step (ms); default: that of the environment.
        width: half-width of the interpolation kernel in steps.
    """

class PerfectIF(pybraintrace._core.spiking.PerfectIF):
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

class PerfectIntegrator(pybraintrace._core.spiking.PerfectIntegrator):
    """
    Integrator without leak, dv/dt = R x; returns v.

    Args:
        in_size: number of neurons, or shape of the population.
        R: input gain (per ms).
        V_initializer: initial v.
        dt: time step (ms); default: that of the environment.
    """

class QuaIF(pybraintrace._core.spiking.QuaIF):
    """
    Quadratic integrate-and-fire neurons.

    Args:
        in_size: number of neurons, or shape of the population.
        V_c: critical potential (mV).
        c: factor of the quadratic term.
        options: keyword options of the membrane, as of `LIF`.
    """

class STD(pybraintrace._core.spiking.STD):
    """
    Short-term depression.

    Args:
        in_size: number of units, or shape.
        tau: recovery time constant (ms).
        U: fraction used per spike.
        dt: time step (ms); default: that of the environment.
    """

class STP(pybraintrace._core.spiking.STP):
    """
    Short-term plasticity (Tsodyks & Markram 1997).

    Args:
        in_size: number of units, or shape.
        U: increase of the release probability per spike.
        tau_f: time constant of facilitation (ms).
        tau_d: time constant of depression (ms).
        dt: time step (ms); default: that of the environment.
    """

class Scale(pybraintrace._core.spiking.Scale):
    """Multiply each unit by a factor that learns online."""

class SpikeCountReadout(pybraintrace._core.spiking.SpikeCountReadout):
    """Count spikes: return the number of spikes of each unit so far."""

class Threshold(pybraintrace._core.spiking.Threshold):
    """
    Return 1 where x > threshold, else 0.

    Args:
        threshold: the threshold.
        spk_fun: surrogate gradient of spikes.
        strict: whether x must exceed the threshold; otherwise it may equal it.
    """

class Sequential(pybraintrace._core.Module):
    """
    Apply layers in order. Their names are their positions.

        >>> import pybraintrace as bt
        >>> bt.nn.Sequential(bt.nn.Linear(2, 3), bt.nn.ReLU())(bt.numpy.zeros(2)).shape
        (3,)
    """

    def __init__(self, *layers: Any) -> None: ...

    def update(self, x: Any) -> Any:
        """Apply the layers in order."""

    def __getitem__(self, index: int) -> Any: ...

    def __len__(self) -> int: ...

def exp_euler_step(f: Any, v: Any, *args: Any, dt: Any = None) -> Tensor:
    """
    Return v after one exponential Euler step of dv/dt = f(v, *args).

        Args:
            f: the drift.
            v: current value.
            args: further arguments of `f`.
            dt: time step (ms); default: that of the environment.
    """
