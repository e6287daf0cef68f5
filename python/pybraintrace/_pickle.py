# SPDX-License-Identifier: Apache-2.0
"""Pickling and copying of states, modules and learners: what they were made from, and their values."""

from __future__ import annotations

import copyreg
import functools
from typing import Any

import numpy as np

from . import _core, tree
from ._core import Module, OnlineLearner, State


def _arrays(value: Any) -> Any:
    return tree.map(lambda leaf: np.array(leaf), value)


# States ---------------------------------------------------------------------------------------------------------------


def _make_state(kind: type[State], first: Any, batch: int | None, now: Any, extra: dict[str, Any]) -> State:
    state = kind(now if first is None else first)
    if batch is not None and first is not None:
        state.init(batch)
    if first is not None and now is not None:
        state.value = now
    state.__dict__.update(extra)
    return state


def _reduce_state(self: State) -> Any:
    first, batch, now = self._saved()
    if first is None and now is None:
        raise TypeError(f"{self.place}: a state without a value cannot be pickled; call init_all_states(model) first")
    return _make_state, (type(self), None if first is None else _arrays(first), batch, None if now is None else _arrays(now), dict(self.__dict__))


# Modules --------------------------------------------------------------------------------------------------------------


def remember_arguments(layer: type[Module]) -> None:
    """Instances of a layer that is written in C++ keep what they were made from."""
    plain = layer.__init__

    @functools.wraps(plain)
    def __init__(self: Module, *args: Any, **kwargs: Any) -> None:
        plain(self, *args, **kwargs)
        self.__dict__.setdefault("_arguments", (layer, args, kwargs))

    layer.__init__ = __init__  # type: ignore[method-assign]


def _make_module(kind: type[Module], layer: type[Module] | None, args: Any, kwargs: Any) -> Module:
    module = kind.__new__(kind)
    (layer or next(c for c in kind.__mro__ if c.__module__.startswith("pybraintrace._core"))).__init__(module, *args, **kwargs)
    return module


def _set_module(module: Module, state: tuple[dict[str, Any], dict[Any, Any]]) -> None:
    attributes, saved = state
    module.__dict__.update(attributes)
    own = module._states()
    for path, (batch, value) in saved.items():
        if batch is not None:
            own[path].init(batch)
        own[path].value = value


def _reduce_module(self: Module) -> Any:
    attributes = {k: v for k, v in self.__dict__.items() if k != "_arguments"}
    layer, args, kwargs = self.__dict__.get("_arguments", (None, (), {}))
    saved = {}
    if layer is not None:
        inside = {id(s) for a in tree.leaves((args, kwargs)) if isinstance(a, Module) for s in a._states().values()}
        for path, state in self._states().items():
            _, batch, now = state._saved()
            if now is not None and id(state) not in inside:
                saved[path] = batch, _arrays(now)
    return _make_module, (type(self), layer, args, kwargs), (attributes, saved), None, None, _set_module


# Learners -------------------------------------------------------------------------------------------------------------


def _make_learner(kind: type[OnlineLearner], algorithm: Any, model: Module, options: dict[str, Any], examples: Any, memory: Any) -> OnlineLearner:
    learner = kind.__new__(kind)
    OnlineLearner.__init__(learner, algorithm, model, **options)
    if examples is not None:
        learner.compile_graph(*examples)
        learner.set_memory(memory)
    return learner


def _reduce_learner(self: OnlineLearner) -> Any:
    algorithm, options = self.__dict__["_made"]
    examples = self.__dict__.get("_examples")
    if self.is_compiled and examples is None:
        raise TypeError("this learner runs in lanes, or was compiled in another way than by compile_graph: it cannot be pickled")
    memory = [np.array(m) for m in self.memory()] if self.is_compiled else None
    return _make_learner, (type(self), algorithm, self.model, options, examples, memory)


def install() -> None:
    """Teaches the classes of the extension module."""
    for kind in (_core.ParamState, _core.ShortTermState, _core.HiddenState, _core.HiddenGroupState, _core.LongTermState):
        setattr(kind, "__reduce__", _reduce_state)
    setattr(Module, "__reduce__", _reduce_module)
    setattr(OnlineLearner, "__reduce__", _reduce_learner)
    for module in (_core.layers, _core.spiking):
        for name in dir(module):
            layer = getattr(module, name)
            if isinstance(layer, type) and issubclass(layer, Module) and layer is not _core.spiking.Neuron:
                remember_arguments(layer)


install()
