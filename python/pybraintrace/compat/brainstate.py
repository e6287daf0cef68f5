# SPDX-License-Identifier: Apache-2.0
"""`brainstate`: states, modules, transforms, random numbers, the environment."""

import secrets
from types import SimpleNamespace
from typing import Any, Union

from .. import environ, nn as _nn, numpy, random as _random, surrogate, transform as _transform, tree
from .._core import (HiddenGroupState, HiddenState, HiddenTreeState, LongTermState, ParamState, RandomState, ShortTermState, State)
from .._modules import StateDict
from . import _options
from ._described import Described, Sequential, sized
from ._lanes import Map, Vmap, reset_all_states, vmap_init_all_states, vmap_new_states
from .jax import nn as _jax_nn

BatchState = LongTermState


class DotDict(dict[str, Any]):
    """A dict whose keys are also attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(name) from error

    __setattr__ = dict.__setitem__

    def copy(self) -> "DotDict":
        """Return a shallow copy."""
        return DotDict(self)


tree.register_node(DotDict, lambda d: ((dict(d),), None), lambda _, values: DotDict(values[0]))


class _Stream:
    """A random stream from a seed or a key, also a traced one, with all functions of `random`."""

    def __init__(self, seed_or_key: Any = 0) -> None:
        self._key = _random.PRNGKey(seed_or_key) if isinstance(seed_or_key, int) else seed_or_key

    def split_key(self, n: int | None = None) -> Any:
        """Return a fresh key, or `n` keys."""
        keys = _random.split(self._key, 2 if n is None else n + 1)
        self._key = keys[0]
        return keys[1] if n is None else keys[1:]

    def __getattr__(self, name: str) -> Any:
        draw = getattr(random, name)
        return lambda *args, **kwargs: draw(*args, **{"key": self.split_key(), **kwargs})


def _namespace(module: Any, **more: Any) -> SimpleNamespace:
    return SimpleNamespace(**{n: getattr(module, n) for n in dir(module) if not n.startswith("_")}, **more)


def _weight_standardization(w: Any, eps: float = 1e-4, gain: Any = None, out_axis: int = -1) -> Any:
    """(w - mean)/√max(n variance, ε) over the n inputs of each output, times `gain`."""
    w = numpy.asarray(w)
    axes = [axis for axis in range(w.ndim) if axis != out_axis % w.ndim]
    variance = w.var(axes, keepdims=True) * (w.size // w.shape[out_axis])
    scale = (1.0 if gain is None else gain) / numpy.maximum(variance, eps) ** 0.5
    return (w - w.mean(axes, keepdims=True)) * scale


def _ifelse(conditions: Any, branches: Any, *operands: Any) -> Any:
    """Call the branch of the first condition that holds; the last branch if none does."""
    if len(branches) == 1:
        return branches[0](*operands)
    return _transform.cond(conditions[0], branches[0], lambda *xs: _ifelse(conditions[1:], branches[1:], *xs), *operands)


random = _namespace(_random, shuffle=_random.permutation)
random.RandomState, random.random = _Stream, lambda size=(), key=None: _random.uniform(size=size, key=key)
random.seed = lambda seed=None: _random.seed(secrets.randbits(31) if seed is None else seed)
nn = _namespace(_nn, Vmap=Vmap, Map=Map, vmap_init_all_states=vmap_init_all_states, DropoutFixed=_nn.Dropout,
                RNNCell=_nn.Module, weight_standardization=_weight_standardization)
nn.standardize, nn.glu, nn.mish, nn.soft_sign, nn.squareplus = (getattr(_jax_nn, _name) for _name in "standardize glu mish soft_sign squareplus".split())
nn.Sequential, nn.reset_all_states = Sequential, reset_all_states
for _name in "LayerNorm RMSNorm Flatten".split():
    setattr(nn, _name, Described(getattr(_nn, _name)))
for _name in (f"{kind}Pool{n}d" for kind in ("Max", "Avg") for n in (1, 2, 3)):
    setattr(nn, _name, Described(sized(getattr(_nn, _name))))
transform = _namespace(_transform, vmap_new_states=vmap_new_states, remat=_transform.checkpoint, jacobian=_transform.jacrev, ifelse=_ifelse, StatefulFunction=_transform.jit,
                       ProgressBar=__import__("pybraintrace.progress", fromlist=["ProgressBar"]).ProgressBar)
transform.jit, transform.for_loop, transform.scan = _options.jit, _options.for_loop, _options.scan
compile = augment = transform
typing = SimpleNamespace(Size=Union[int, tuple], ArrayLike=Any, DTypeLike=Any, PyTree=Any, Array=Any)
util = SimpleNamespace(DotDict=DotDict, StateDict=StateDict, clear_buffer_memory=lambda *args, **kwargs: None)
