# SPDX-License-Identifier: Apache-2.0
"""Modules, layers, cells, neurons, synapses, activations."""

from __future__ import annotations

from typing import Any

from . import _core
from ._core import Module, Tensor
from ._core.ops import (celu, elu, gelu, hard_sigmoid, hard_silu, hard_tanh, leaky_relu, log_sigmoid, log_softmax, logsumexp, one_hot,
                        relu, relu6, selu, sigmoid, silu, softmax, softplus, tanh)
from ._core.optim import clip_grad_norm, clip_grad_value
from ._core.spiking import exp_euler
from ._modules import init_all_states, reset_all_states
from ._pickle import remembering

swish, hard_swish = silu, hard_silu


def _take_over(module: Any) -> list[str]:
    names = [n for n in dir(module) if not n.startswith("_") and n[0].isupper()]
    for name in names:
        value = getattr(module, name)
        is_layer = isinstance(value, type) and issubclass(value, Module) and value not in (_core.spiking.Neuron, _core.spiking.Synapse)
        globals()[name] = remembering(value, __name__) if is_layer else value
    return names


__all__ = ["Module", "Sequential", "celu", "clip_grad_norm", "clip_grad_value", "elu", "exp_euler", "exp_euler_step", "gelu",
           "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh", "init_all_states", "leaky_relu", "log_sigmoid", "log_softmax",
           "logsumexp", "one_hot", "relu", "relu6", "reset_all_states", "selu", "sigmoid", "silu", "softmax", "softplus", "swish", "tanh"]
__all__ += _take_over(_core.layers) + _take_over(_core.spiking)
VanillaRNNCell = globals()["ValinaRNNCell"]


class Sequential(Module):
    """Apply layers in order. Their names are their positions.

    >>> import pybraintrace as bt
    >>> bt.nn.Sequential(bt.nn.Linear(2, 3), bt.nn.ReLU())(bt.numpy.zeros(2)).shape
    (3,)
    """

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        self.layers = list(layers)

    def update(self, x: Any) -> Any:
        """Apply the layers in order."""
        for layer in self.layers:
            x = layer(x)
        return x

    def __getitem__(self, index: int) -> Any:
        return self.layers[index]

    def __len__(self) -> int:
        return len(self.layers)


def exp_euler_step(f: Any, v: Any, *args: Any, dt: Any = None) -> Tensor:
    """Return v after one exponential Euler step of dv/dt = f(v, *args).

    Args:
        f: the drift.
        v: current value.
        args: further arguments of `f`.
        dt: time step (ms); default: that of the environment.
    """
    return exp_euler(lambda u: f(u, *args), v, dt)
