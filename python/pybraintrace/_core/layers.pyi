"""Layers and recurrent cells."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import pybraintrace._core
import pybraintrace.typing


class SparsePattern:
    """
    Where a sparse matrix has entries: entry e stands at (rows[e], cols[e]).
    """

    def __init__(self, rows: pybraintrace.typing.ArrayLike | None, cols: pybraintrace.typing.ArrayLike | None, shape: tuple[int, int]) -> None: ...

    @property
    def shape(self) -> tuple:
        """Rows and columns."""

class Linear(pybraintrace._core.Module):
    """y = x W + b; W and b learn online."""

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, w_mask: pybraintrace.typing.ArrayLike | Callable[[tuple[int, ...]], pybraintrace.typing.ArrayLike] | None | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class PlainLinear(pybraintrace._core.Module):
    """
    y = x W + b as a plain product: W and b get the same-step gradient only.
    """

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class SignedWLinear(pybraintrace._core.Module):
    """y = x (|W| sign): every weight keeps its sign."""

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, w_sign: pybraintrace.typing.ArrayLike | Callable[[tuple[int, ...]], pybraintrace.typing.ArrayLike] | None | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class ScaledWSLinear(pybraintrace._core.Module):
    """y = (x Wn) g + b with the weights of each output standardized."""

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, w_mask: pybraintrace.typing.ArrayLike | Callable[[tuple[int, ...]], pybraintrace.typing.ArrayLike] | None | None = None, ws_gain: bool = True, eps: float = 0.0001, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class SparseLinear(pybraintrace._core.Module):
    """
    y = x W + b with a sparse W of a fixed pattern, given as SparsePattern or SciPy matrix.
    """

    def __init__(self, spar_mat: object, values: pybraintrace.typing.ArrayLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = None, in_size: object | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class LoRA(pybraintrace._core.Module):
    """y = alpha x A B + base(x), a product of low rank."""

    def __init__(self, in_features: int, lora_rank: int, out_features: int, *, base_module: pybraintrace._core.Module | None = None, kernel_init: pybraintrace.typing.InitializerLike | None = None, alpha: float | None = None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class GroupedLinear(pybraintrace._core.Module):
    """y_g = x_g W_g + b_g, products side by side."""

    def __init__(self, num_groups: int, in_features: int, out_features: int, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Embedding(pybraintrace._core.Module):
    """y = W[i], rows of a table that learns online."""

    def __init__(self, num_embeddings: int, embedding_size: int, w_init: pybraintrace.typing.InitializerLike | None = None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Conv1d(pybraintrace._core.Module):
    """
    Cross-correlation over one axis. in_size (L, C), or in_channels alone with channels first.
    """

    def __init__(self, in_size: int | Sequence[int] | None, out_channels: int, kernel_size: int | Sequence[int] | None, stride: int | Sequence[int] | None = 1, padding: str | int | Sequence[tuple[int, int]] | None = 'SAME', lhs_dilation: int | Sequence[int] | None = 1, rhs_dilation: int | Sequence[int] | None = 1, groups: int = 1, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = None, w_mask: pybraintrace.typing.ArrayLike | Callable[[tuple[int, ...]], pybraintrace.typing.ArrayLike] | None | None = None, channel_first: bool = False, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

    @property
    def out_size(self) -> object:
        """Shape of one sample's result, where known."""

class Conv2d(pybraintrace._core.Module):
    """
    Cross-correlation over two axes. in_size (H, W, C), or in_channels alone with channels first.
    """

    def __init__(self, in_size: int | Sequence[int] | None, out_channels: int, kernel_size: int | Sequence[int] | None, stride: int | Sequence[int] | None = 1, padding: str | int | Sequence[tuple[int, int]] | None = 'SAME', lhs_dilation: int | Sequence[int] | None = 1, rhs_dilation: int | Sequence[int] | None = 1, groups: int = 1, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = None, w_mask: pybraintrace.typing.ArrayLike | Callable[[tuple[int, ...]], pybraintrace.typing.ArrayLike] | None | None = None, channel_first: bool = False, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

    @property
    def out_size(self) -> object:
        """Shape of one sample's result, where known."""

class Conv3d(pybraintrace._core.Module):
    """
    Cross-correlation over three axes. in_size (D, H, W, C), or in_channels alone with channels first.
    """

    def __init__(self, in_size: int | Sequence[int] | None, out_channels: int, kernel_size: int | Sequence[int] | None, stride: int | Sequence[int] | None = 1, padding: str | int | Sequence[tuple[int, int]] | None = 'SAME', lhs_dilation: int | Sequence[int] | None = 1, rhs_dilation: int | Sequence[int] | None = 1, groups: int = 1, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = None, w_mask: pybraintrace.typing.ArrayLike | Callable[[tuple[int, ...]], pybraintrace.typing.ArrayLike] | None | None = None, channel_first: bool = False, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

    @property
    def out_size(self) -> object:
        """Shape of one sample's result, where known."""

class ValinaRNNCell(pybraintrace._core.Module):
    """h = phi(W[x;h]), phi = relu."""

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, state_init: pybraintrace.typing.InitializerLike | None = 0.0, activation: str | Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

VanillaRNNCell: TypeAlias = ValinaRNNCell

class GRUCell(pybraintrace._core.Module):
    """
    Gated recurrent unit: z = s(Wz[x;h]), r = s(Wr[x;h]), h = (1-z) h + z phi(Wh[x;r h]).
    """

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, state_init: pybraintrace.typing.InitializerLike | None = 0.0, activation: str | Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class MGUCell(pybraintrace._core.Module):
    """Minimal gated unit: f = s(Wf[x;h]), h = (1-f) h + f phi(Wh[x;f h])."""

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, state_init: pybraintrace.typing.InitializerLike | None = 0.0, activation: str | Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class CFNCell(pybraintrace._core.Module):
    """Chaos-free network: h = f phi(h) + i phi(Wh x)."""

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, state_init: pybraintrace.typing.InitializerLike | None = 0.0, activation: str | Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class MinimalRNNCell(pybraintrace._core.Module):
    """z = phi(x), f = s(W_u[z;h]), h = f h + (1-f) z."""

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, state_init: pybraintrace.typing.InitializerLike | None = 0.0, activation: str | Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class MiniGRU(pybraintrace._core.Module):
    """z = s(W_z[x;h]), h = (1-z) h + z (W_x x)."""

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, state_init: pybraintrace.typing.InitializerLike | None = 0.0, activation: str | Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class MiniLSTM(pybraintrace._core.Module):
    """h = f h + i (W_x x)."""

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, state_init: pybraintrace.typing.InitializerLike | None = 0.0, activation: str | Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class LSTMCell(pybraintrace._core.Module):
    """Long short-term memory, with one added to the forget gate."""

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, state_init: pybraintrace.typing.InitializerLike | None = 0.0, activation: str | Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class URLSTMCell(pybraintrace._core.Module):
    """LSTM with refined, uniformly initialized gates."""

    def __init__(self, in_size: int | Sequence[int] | None, out_size: int | Sequence[int] | None, w_init: pybraintrace.typing.InitializerLike | None = None, b_init: pybraintrace.typing.InitializerLike | None | None = 0.0, state_init: pybraintrace.typing.InitializerLike | None = 0.0, activation: str | Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None = None, name: object | None = None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class LRUCell(pybraintrace._core.Module):
    """Linear recurrent unit: a diagonal complex recurrence in real numbers."""

    def __init__(self, d_model: int, d_hidden: int, r_min: float = 0.0, r_max: float = 1.0, max_phase: float = 6.28, state_init: pybraintrace.typing.InitializerLike | None = 0.0) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class ReLU(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class ReLU6(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Sigmoid(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Hardsigmoid(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Tanh(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class SiLU(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Mish(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Hardswish(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class SELU(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class LogSigmoid(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Softsign(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Tanhshrink(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Identity(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Softmax2d(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class GLU(pybraintrace._core.Module):
    """Gated linear unit: a s(b) with [a;b] on the last axis."""

    def __init__(self) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class ELU(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self, alpha: float = 1.0) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class CELU(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self, alpha: float = 1.0) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class LeakyReLU(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self, negative_slope: float = 0.01) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Hardshrink(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self, lambd: float = 0.5) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Softshrink(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self, lambd: float = 0.5) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Softplus(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self, beta: float = 1.0) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Softmax(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self, axis: int = -1) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Softmin(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self, axis: int = -1) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class LogSoftmax(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self, axis: int = -1) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Hardtanh(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class RReLU(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self, lower: float = 0.125, upper: float = 0.3333333333333333) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class GELU(pybraintrace._core.Module):
    """An activation function as a layer."""

    def __init__(self, approximate: bool = False) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class PReLU(pybraintrace._core.Module):
    """x where x > 0, else a x with a trainable a."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Activation(pybraintrace._core.Module):
    """An activation, by name or as a function, as a layer."""

    def __init__(self, activation: str | Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor] | None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class SpikeBitwise(pybraintrace._core.Module):
    """
    Spikes of two populations combined as bits: add, or, and, xor, iand, ixor.
    """

    def __init__(self, op: str = 'add') -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

    def __call__(self, x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor: ...

class Dropout(pybraintrace._core.Module):
    """
    While training, keeps each element with probability `prob` and scales it by 1/prob.
    """

    def __init__(self, prob: float = 0.5) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Dropout1d(pybraintrace._core.Module):
    """
    While training, keeps each element with probability `prob` and scales it by 1/prob.
    """

    def __init__(self, prob: float = 0.5) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Dropout2d(pybraintrace._core.Module):
    """
    While training, keeps each element with probability `prob` and scales it by 1/prob.
    """

    def __init__(self, prob: float = 0.5) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Dropout3d(pybraintrace._core.Module):
    """
    While training, keeps each element with probability `prob` and scales it by 1/prob.
    """

    def __init__(self, prob: float = 0.5) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class MaxPool1d(pybraintrace._core.Module):
    """Pooling over windows of the axes before the channels (last axis)."""

    def __init__(self, kernel_size: int | Sequence[int] | None, stride: int | Sequence[int] | None = None, padding: str | int | Sequence[tuple[int, int]] | None = 'VALID') -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class MaxPool2d(pybraintrace._core.Module):
    """Pooling over windows of the axes before the channels (last axis)."""

    def __init__(self, kernel_size: int | Sequence[int] | None, stride: int | Sequence[int] | None = None, padding: str | int | Sequence[tuple[int, int]] | None = 'VALID') -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class MaxPool3d(pybraintrace._core.Module):
    """Pooling over windows of the axes before the channels (last axis)."""

    def __init__(self, kernel_size: int | Sequence[int] | None, stride: int | Sequence[int] | None = None, padding: str | int | Sequence[tuple[int, int]] | None = 'VALID') -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class AvgPool1d(pybraintrace._core.Module):
    """Pooling over windows of the axes before the channels (last axis)."""

    def __init__(self, kernel_size: int | Sequence[int] | None, stride: int | Sequence[int] | None = None, padding: str | int | Sequence[tuple[int, int]] | None = 'VALID') -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class AvgPool2d(pybraintrace._core.Module):
    """Pooling over windows of the axes before the channels (last axis)."""

    def __init__(self, kernel_size: int | Sequence[int] | None, stride: int | Sequence[int] | None = None, padding: str | int | Sequence[tuple[int, int]] | None = 'VALID') -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class AvgPool3d(pybraintrace._core.Module):
    """Pooling over windows of the axes before the channels (last axis)."""

    def __init__(self, kernel_size: int | Sequence[int] | None, stride: int | Sequence[int] | None = None, padding: str | int | Sequence[tuple[int, int]] | None = 'VALID') -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class AdaptiveMaxPool1d(pybraintrace._core.Module):
    """Cuts each spatial axis into as many parts as asked and reduces each."""

    def __init__(self, target_size: int | Sequence[int] | None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class AdaptiveMaxPool2d(pybraintrace._core.Module):
    """Cuts each spatial axis into as many parts as asked and reduces each."""

    def __init__(self, target_size: int | Sequence[int] | None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class AdaptiveMaxPool3d(pybraintrace._core.Module):
    """Cuts each spatial axis into as many parts as asked and reduces each."""

    def __init__(self, target_size: int | Sequence[int] | None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class AdaptiveAvgPool1d(pybraintrace._core.Module):
    """Cuts each spatial axis into as many parts as asked and reduces each."""

    def __init__(self, target_size: int | Sequence[int] | None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class AdaptiveAvgPool2d(pybraintrace._core.Module):
    """Cuts each spatial axis into as many parts as asked and reduces each."""

    def __init__(self, target_size: int | Sequence[int] | None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class AdaptiveAvgPool3d(pybraintrace._core.Module):
    """Cuts each spatial axis into as many parts as asked and reduces each."""

    def __init__(self, target_size: int | Sequence[int] | None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Flatten(pybraintrace._core.Module):
    """All axes but the batch as one."""

    def __init__(self, in_size: int | Sequence[int] | None = None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class Unflatten(pybraintrace._core.Module):
    """The last axis as these axes."""

    def __init__(self, sizes: int | Sequence[int] | None) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class KappaFilter(pybraintrace._core.Module):
    """A running average: a = kappa a + (1-kappa) x."""

    def __init__(self, init: pybraintrace.typing.ArrayLike | None, kappa: float) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

    @property
    def value(self) -> pybraintrace._core.Tensor:
        """The average now."""

class BatchNorm0d(pybraintrace._core.Module):
    """
    Normalized per channel (last axis): by the batch while training, by running statistics otherwise.
    """

    def __init__(self, in_size: int | Sequence[int] | None, momentum: float = 0.99, epsilon: float = 1e-05, affine: bool = True) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class BatchNorm1d(pybraintrace._core.Module):
    """
    Normalized per channel (last axis): by the batch while training, by running statistics otherwise.
    """

    def __init__(self, in_size: int | Sequence[int] | None, momentum: float = 0.99, epsilon: float = 1e-05, affine: bool = True) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class BatchNorm2d(pybraintrace._core.Module):
    """
    Normalized per channel (last axis): by the batch while training, by running statistics otherwise.
    """

    def __init__(self, in_size: int | Sequence[int] | None, momentum: float = 0.99, epsilon: float = 1e-05, affine: bool = True) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class BatchNorm3d(pybraintrace._core.Module):
    """
    Normalized per channel (last axis): by the batch while training, by running statistics otherwise.
    """

    def __init__(self, in_size: int | Sequence[int] | None, momentum: float = 0.99, epsilon: float = 1e-05, affine: bool = True) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class LayerNorm(pybraintrace._core.Module):
    """Normalized over the last axis."""

    def __init__(self, in_size: int | Sequence[int] | None, epsilon: float = 1e-06, use_scale: bool = True, use_bias: bool = True, use_fast_variance: bool = True) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class RMSNorm(pybraintrace._core.Module):
    """Divided by the root of the mean square over the last axis."""

    def __init__(self, in_size: int | Sequence[int] | None, epsilon: float = 1e-06) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""

class GroupNorm(pybraintrace._core.Module):
    """LayerNorm within groups of channels."""

    def __init__(self, in_size: int | Sequence[int] | None, num_groups: int = 32) -> None: ...

    def update(self, *args, **kwargs) -> object:
        """One step."""
