"""Layers and recurrent cells."""

from typing import Any
from collections.abc import Callable, Sequence
from typing import TypeAlias

import pybraintrace._core
import pybraintrace.typing


class SparsePattern:
    """
    Positions of the entries of a sparse matrix: entry e is at (rows[e], cols[e]).
    """

    def __init__(self, rows: pybraintrace.typing.ArrayLike | None, cols: pybraintrace.typing.ArrayLike | None, shape: tuple[int, int]) -> None: ...

    @property
    def shape(self) -> tuple:
        """(rows, columns)."""

class Linear(pybraintrace._core.Module):
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

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, w_mask: pybraintrace.typing.ArrayLike | Callable[[tuple[int, ...]], pybraintrace.typing.ArrayLike] | None | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class PlainLinear(pybraintrace._core.Module):
    """
    Linear layer y = x W + b, whose weight and bias get the gradient of the current step only.

    Args:
        in_size: number of inputs, or input shape.
        out_size: number of outputs, or output shape.
        w_init: initializer of the weight.
        b_init: initializer of the bias; None for no bias.
    """

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class SignedWLinear(pybraintrace._core.Module):
    """
    Linear layer y = x (|W| sign), whose weights keep their signs.

    Args:
        in_size: number of inputs, or input shape.
        out_size: number of outputs, or output shape.
        w_init: initializer of the weight.
        w_sign: the signs; None for all positive.
        name: ignored.
    """

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, w_sign: pybraintrace.typing.ArrayLike | Callable[[tuple[int, ...]], pybraintrace.typing.ArrayLike] | None | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class ScaledWSLinear(pybraintrace._core.Module):
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

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, w_mask: pybraintrace.typing.ArrayLike | Callable[[tuple[int, ...]], pybraintrace.typing.ArrayLike] | None | None = None, ws_gain: bool = True, eps: float = 0.0001, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class SparseLinear(pybraintrace._core.Module):
    """
    Linear layer with a sparse weight of fixed pattern, whose stored values learn online.

    Args:
        spar_mat: a SparsePattern, or a SciPy matrix in CSR or COO format.
        values: initial values of the entries; by default those of the SciPy matrix.
        b_init: initializer of the bias; None for no bias.
        in_size: ignored.
        name: ignored.
    """

    def __init__(self, spar_mat: object, values: pybraintrace.typing.ArrayLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = None, in_size: object | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class LoRA(pybraintrace._core.Module):
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

    def __init__(self, in_features: int, lora_rank: int, out_features: int, *, base_module: pybraintrace._core.Module | None = None, kernel_init: pybraintrace.typing.InitializerLike | None = None, alpha: float | None = None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class GroupedLinear(pybraintrace._core.Module):
    """
    Independent linear layers, one per group: y_g = x_g W_g + b_g.

    Args:
        num_groups: number of groups G.
        in_features: inputs of each group; x is [..., G, in_features].
        out_features: outputs of each group.
        w_init: initializer of the weights.
        b_init: initializer of the biases; None for no bias.
    """

    def __init__(self, num_groups: int, in_features: int, out_features: int, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Embedding(pybraintrace._core.Module):
    """
    Table of vectors, indexed by integers, that learns online.

    Args:
        num_embeddings: number of rows.
        embedding_size: length of each vector.
        w_init: initializer of the table.
    """

    def __init__(self, num_embeddings: int, embedding_size: int, w_init: pybraintrace.typing.InitializerLike | None = None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Conv1d(pybraintrace._core.Module):
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

    def __init__(self, in_size: int | Sequence[int] | None, out_channels: int, kernel_size: int | Sequence[int] | None, stride: int | Sequence[int] | None = 1, padding: str | int | Sequence[tuple[int, int]] | None = 'SAME', lhs_dilation: int | Sequence[int] | None = 1, rhs_dilation: int | Sequence[int] | None = 1, groups: int = 1, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = None, w_mask: pybraintrace.typing.ArrayLike | Callable[[tuple[int, ...]], pybraintrace.typing.ArrayLike] | None | None = None, channel_first: bool = False, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

    @property
    def out_size(self) -> Any:
        """Output shape of one sample, or None if it is not known."""

class Conv2d(pybraintrace._core.Module):
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

    def __init__(self, in_size: int | Sequence[int] | None, out_channels: int, kernel_size: int | Sequence[int] | None, stride: int | Sequence[int] | None = 1, padding: str | int | Sequence[tuple[int, int]] | None = 'SAME', lhs_dilation: int | Sequence[int] | None = 1, rhs_dilation: int | Sequence[int] | None = 1, groups: int = 1, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = None, w_mask: pybraintrace.typing.ArrayLike | Callable[[tuple[int, ...]], pybraintrace.typing.ArrayLike] | None | None = None, channel_first: bool = False, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

    @property
    def out_size(self) -> Any:
        """Output shape of one sample, or None if it is not known."""

class Conv3d(pybraintrace._core.Module):
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

    def __init__(self, in_size: int | Sequence[int] | None, out_channels: int, kernel_size: int | Sequence[int] | None, stride: int | Sequence[int] | None = 1, padding: str | int | Sequence[tuple[int, int]] | None = 'SAME', lhs_dilation: int | Sequence[int] | None = 1, rhs_dilation: int | Sequence[int] | None = 1, groups: int = 1, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = None, w_mask: pybraintrace.typing.ArrayLike | Callable[[tuple[int, ...]], pybraintrace.typing.ArrayLike] | None | None = None, channel_first: bool = False, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

    @property
    def out_size(self) -> Any:
        """Output shape of one sample, or None if it is not known."""

class ValinaRNNCell(pybraintrace._core.Module):
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

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, state_init: pybraintrace.typing.InitializerLike | None = 0.0, activation: str | Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

VanillaRNNCell: TypeAlias = ValinaRNNCell

class GRUCell(pybraintrace._core.Module):
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

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, state_init: pybraintrace.typing.InitializerLike | None = 0.0, activation: str | Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class MGUCell(pybraintrace._core.Module):
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

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, state_init: pybraintrace.typing.InitializerLike | None = 0.0, activation: str | Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class CFNCell(pybraintrace._core.Module):
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

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, state_init: pybraintrace.typing.InitializerLike | None = 0.0, activation: str | Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class MinimalRNNCell(pybraintrace._core.Module):
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

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, state_init: pybraintrace.typing.InitializerLike | None = 0.0, activation: str | Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class MiniGRU(pybraintrace._core.Module):
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

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, state_init: pybraintrace.typing.InitializerLike | None = 0.0, activation: str | Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class MiniLSTM(pybraintrace._core.Module):
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

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, state_init: pybraintrace.typing.InitializerLike | None = 0.0, activation: str | Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class LSTMCell(pybraintrace._core.Module):
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

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, state_init: pybraintrace.typing.InitializerLike | None = 0.0, activation: str | Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class URLSTMCell(pybraintrace._core.Module):
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

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, state_init: pybraintrace.typing.InitializerLike | None = 0.0, activation: str | Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class LRUCell(pybraintrace._core.Module):
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

    def __init__(self, d_model: int, d_hidden: int, r_min: float = 0.0, r_max: float = 1.0, max_phase: float = 6.28, state_init: pybraintrace.typing.InitializerLike | None = 0.0) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class ReLU(pybraintrace._core.Module):
    """max(x, 0)."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class ReLU6(pybraintrace._core.Module):
    """min(max(x, 0), 6)."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Sigmoid(pybraintrace._core.Module):
    """Logistic function: 1 / (1 + exp(-x))."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Hardsigmoid(pybraintrace._core.Module):
    """Piecewise linear sigmoid: relu6(x + 3) / 6."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Tanh(pybraintrace._core.Module):
    """tanh(x)."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class SiLU(pybraintrace._core.Module):
    """Sigmoid linear unit: x sigmoid(x)."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Mish(pybraintrace._core.Module):
    """x tanh(softplus(x))."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Hardswish(pybraintrace._core.Module):
    """x relu6(x + 3) / 6."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class SELU(pybraintrace._core.Module):
    """Scaled exponential linear unit."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class LogSigmoid(pybraintrace._core.Module):
    """Logarithm of the sigmoid."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Softsign(pybraintrace._core.Module):
    """x / (1 + |x|)."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Tanhshrink(pybraintrace._core.Module):
    """x - tanh(x)."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Identity(pybraintrace._core.Module):
    """Return the input unchanged."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Softmax2d(pybraintrace._core.Module):
    """Softmax over the channels of [..., C, H, W]."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class GLU(pybraintrace._core.Module):
    """
    Gated linear unit: a sigmoid(b), where a and b are the halves of the last axis.
    """

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class ELU(pybraintrace._core.Module):
    """Exponential linear unit: x where x > 0, else alpha (exp(x) - 1)."""

    def __init__(self, alpha: float = 1.0) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class CELU(pybraintrace._core.Module):
    """
    Continuously differentiable ELU: x where x > 0, else alpha (exp(x/alpha) - 1).
    """

    def __init__(self, alpha: float = 1.0) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class LeakyReLU(pybraintrace._core.Module):
    """Leaky ReLU: x where x > 0, else negative_slope x."""

    def __init__(self, negative_slope: float = 0.01) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Hardshrink(pybraintrace._core.Module):
    """x where |x| > lambd, else 0."""

    def __init__(self, lambd: float = 0.5) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Softshrink(pybraintrace._core.Module):
    """x shrunk toward 0 by lambd."""

    def __init__(self, lambd: float = 0.5) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Softplus(pybraintrace._core.Module):
    """log(1 + exp(beta x)) / beta."""

    def __init__(self, beta: float = 1.0) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Softmax(pybraintrace._core.Module):
    """Softmax along an axis."""

    def __init__(self, axis: int = -1) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Softmin(pybraintrace._core.Module):
    """Softmax of -x along an axis."""

    def __init__(self, axis: int = -1) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class LogSoftmax(pybraintrace._core.Module):
    """Logarithm of the softmax along an axis."""

    def __init__(self, axis: int = -1) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Hardtanh(pybraintrace._core.Module):
    """x limited to [min_val, max_val]."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class RReLU(pybraintrace._core.Module):
    """
    Randomized leaky ReLU: in training, the slope of each element is uniform in [lower, upper]; otherwise it is their mean.
    """

    def __init__(self, lower: float = 0.125, upper: float = 0.3333333333333333) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class GELU(pybraintrace._core.Module):
    """
    Gaussian error linear unit: x Phi(x), Phi the normal distribution function; `approximate` uses tanh.
    """

    def __init__(self, approximate: bool = False) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class PReLU(pybraintrace._core.Module):
    """
    ReLU with a trainable slope: x where x > 0, else a x.

    Args:
        num_parameters: number of slopes: 1, or one per feature.
        init: initial slope.
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Activation(pybraintrace._core.Module):
    """Apply an activation, given by name or as a function."""

    def __init__(self, activation: str | Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class SpikeBitwise(pybraintrace._core.Module):
    """
    Combine the spikes of two populations bit by bit.

    Args:
        op: 'add', 'or', 'and', 'xor', 'iand' ((1-x) y) or 'ixor' (x (1-y)); 'not' takes `x` only.
    """

    def __init__(self, op: str = 'add') -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

    def __call__(self, x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor: ...

class Dropout(pybraintrace._core.Module):
    """
    Dropout: in training, keep each element with probability `prob` and scale it by 1/prob.
    """

    def __init__(self, prob: float = 0.5) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Dropout1d(pybraintrace._core.Module):
    """
    Dropout: in training, keep each element with probability `prob` and scale it by 1/prob.
    """

    def __init__(self, prob: float = 0.5) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Dropout2d(pybraintrace._core.Module):
    """
    Dropout: in training, keep each element with probability `prob` and scale it by 1/prob.
    """

    def __init__(self, prob: float = 0.5) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Dropout3d(pybraintrace._core.Module):
    """
    Dropout: in training, keep each element with probability `prob` and scale it by 1/prob.
    """

    def __init__(self, prob: float = 0.5) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class MaxPool1d(pybraintrace._core.Module):
    """
    Pooling over windows of the spatial axes, with channels last.

    Args:
        kernel_size: window, one number or one per spatial axis.
        stride: step of the window, default `kernel_size`.
        padding: 'SAME', 'VALID', a number, or (before, after) per spatial axis.
    """

    def __init__(self, kernel_size: int | Sequence[int] | None, stride: int | Sequence[int] | None = None, padding: str | int | Sequence[tuple[int, int]] | None = 'VALID') -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class MaxPool2d(pybraintrace._core.Module):
    """
    Pooling over windows of the spatial axes, with channels last.

    Args:
        kernel_size: window, one number or one per spatial axis.
        stride: step of the window, default `kernel_size`.
        padding: 'SAME', 'VALID', a number, or (before, after) per spatial axis.
    """

    def __init__(self, kernel_size: int | Sequence[int] | None, stride: int | Sequence[int] | None = None, padding: str | int | Sequence[tuple[int, int]] | None = 'VALID') -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class MaxPool3d(pybraintrace._core.Module):
    """
    Pooling over windows of the spatial axes, with channels last.

    Args:
        kernel_size: window, one number or one per spatial axis.
        stride: step of the window, default `kernel_size`.
        padding: 'SAME', 'VALID', a number, or (before, after) per spatial axis.
    """

    def __init__(self, kernel_size: int | Sequence[int] | None, stride: int | Sequence[int] | None = None, padding: str | int | Sequence[tuple[int, int]] | None = 'VALID') -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class AvgPool1d(pybraintrace._core.Module):
    """
    Pooling over windows of the spatial axes, with channels last.

    Args:
        kernel_size: window, one number or one per spatial axis.
        stride: step of the window, default `kernel_size`.
        padding: 'SAME', 'VALID', a number, or (before, after) per spatial axis.
    """

    def __init__(self, kernel_size: int | Sequence[int] | None, stride: int | Sequence[int] | None = None, padding: str | int | Sequence[tuple[int, int]] | None = 'VALID') -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class AvgPool2d(pybraintrace._core.Module):
    """
    Pooling over windows of the spatial axes, with channels last.

    Args:
        kernel_size: window, one number or one per spatial axis.
        stride: step of the window, default `kernel_size`.
        padding: 'SAME', 'VALID', a number, or (before, after) per spatial axis.
    """

    def __init__(self, kernel_size: int | Sequence[int] | None, stride: int | Sequence[int] | None = None, padding: str | int | Sequence[tuple[int, int]] | None = 'VALID') -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class AvgPool3d(pybraintrace._core.Module):
    """
    Pooling over windows of the spatial axes, with channels last.

    Args:
        kernel_size: window, one number or one per spatial axis.
        stride: step of the window, default `kernel_size`.
        padding: 'SAME', 'VALID', a number, or (before, after) per spatial axis.
    """

    def __init__(self, kernel_size: int | Sequence[int] | None, stride: int | Sequence[int] | None = None, padding: str | int | Sequence[tuple[int, int]] | None = 'VALID') -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class AdaptiveMaxPool1d(pybraintrace._core.Module):
    """
    Pooling to a given spatial size, with channels last.

    Args:
        target_size: number of windows, one number or one per spatial axis; must divide the size of the axis.
    """

    def __init__(self, target_size: int | Sequence[int] | None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class AdaptiveMaxPool2d(pybraintrace._core.Module):
    """
    Pooling to a given spatial size, with channels last.

    Args:
        target_size: number of windows, one number or one per spatial axis; must divide the size of the axis.
    """

    def __init__(self, target_size: int | Sequence[int] | None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class AdaptiveMaxPool3d(pybraintrace._core.Module):
    """
    Pooling to a given spatial size, with channels last.

    Args:
        target_size: number of windows, one number or one per spatial axis; must divide the size of the axis.
    """

    def __init__(self, target_size: int | Sequence[int] | None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class AdaptiveAvgPool1d(pybraintrace._core.Module):
    """
    Pooling to a given spatial size, with channels last.

    Args:
        target_size: number of windows, one number or one per spatial axis; must divide the size of the axis.
    """

    def __init__(self, target_size: int | Sequence[int] | None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class AdaptiveAvgPool2d(pybraintrace._core.Module):
    """
    Pooling to a given spatial size, with channels last.

    Args:
        target_size: number of windows, one number or one per spatial axis; must divide the size of the axis.
    """

    def __init__(self, target_size: int | Sequence[int] | None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class AdaptiveAvgPool3d(pybraintrace._core.Module):
    """
    Pooling to a given spatial size, with channels last.

    Args:
        target_size: number of windows, one number or one per spatial axis; must divide the size of the axis.
    """

    def __init__(self, target_size: int | Sequence[int] | None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Flatten(pybraintrace._core.Module):
    """
    Flatten all axes but the batch axis.

    Args:
        in_size: shape of one sample; by default, the first axis is the batch axis.
    """

    def __init__(self, in_size: int | Sequence[int] | None = None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class Unflatten(pybraintrace._core.Module):
    """Reshape the last axis to the given sizes."""

    def __init__(self, sizes: int | Sequence[int] | None) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class KappaFilter(pybraintrace._core.Module):
    """
    Exponential moving average a = kappa a + (1-kappa) x.

    Args:
        init: initial average.
        kappa: decay per step.
    """

    def __init__(self, init: pybraintrace.typing.ArrayLike | None, kappa: float) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

    @property
    def value(self) -> pybraintrace._core.Tensor:
        """The current average."""

class BatchNorm0d(pybraintrace._core.Module):
    """
    Batch normalization per channel (last axis): statistics of the batch in training, running statistics otherwise.

    Args:
        in_size: number of channels, or shape of one sample.
        momentum: decay of the running statistics.
        epsilon: added to the variance.
        affine: whether there is a trainable scale and bias.
    """

    def __init__(self, in_size: int | Sequence[int] | None, momentum: float = 0.99, epsilon: float = 1e-05, affine: bool = True) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class BatchNorm1d(pybraintrace._core.Module):
    """
    Batch normalization per channel (last axis): statistics of the batch in training, running statistics otherwise.

    Args:
        in_size: number of channels, or shape of one sample.
        momentum: decay of the running statistics.
        epsilon: added to the variance.
        affine: whether there is a trainable scale and bias.
    """

    def __init__(self, in_size: int | Sequence[int] | None, momentum: float = 0.99, epsilon: float = 1e-05, affine: bool = True) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class BatchNorm2d(pybraintrace._core.Module):
    """
    Batch normalization per channel (last axis): statistics of the batch in training, running statistics otherwise.

    Args:
        in_size: number of channels, or shape of one sample.
        momentum: decay of the running statistics.
        epsilon: added to the variance.
        affine: whether there is a trainable scale and bias.
    """

    def __init__(self, in_size: int | Sequence[int] | None, momentum: float = 0.99, epsilon: float = 1e-05, affine: bool = True) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class BatchNorm3d(pybraintrace._core.Module):
    """
    Batch normalization per channel (last axis): statistics of the batch in training, running statistics otherwise.

    Args:
        in_size: number of channels, or shape of one sample.
        momentum: decay of the running statistics.
        epsilon: added to the variance.
        affine: whether there is a trainable scale and bias.
    """

    def __init__(self, in_size: int | Sequence[int] | None, momentum: float = 0.99, epsilon: float = 1e-05, affine: bool = True) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class LayerNorm(pybraintrace._core.Module):
    """
    Layer normalization over the last axis.

    Args:
        in_size: number of features, or shape of one sample.
        epsilon: added to the variance.
        use_scale: whether there is a trainable scale.
        use_bias: whether there is a trainable bias.
        use_fast_variance: compute the variance in one pass.
    """

    def __init__(self, in_size: int | Sequence[int] | None, epsilon: float = 1e-06, use_scale: bool = True, use_bias: bool = True, use_fast_variance: bool = True) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class RMSNorm(pybraintrace._core.Module):
    """
    Root mean square normalization over the last axis, with a trainable scale.
    """

    def __init__(self, in_size: int | Sequence[int] | None, epsilon: float = 1e-06) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""

class GroupNorm(pybraintrace._core.Module):
    """
    Group normalization: layer normalization within groups of channels and over spatial axes.
    """

    def __init__(self, in_size: int | Sequence[int] | None, num_groups: int = 32) -> None: ...

    def update(self, *args, **kwargs) -> Any:
        """Run one step."""
