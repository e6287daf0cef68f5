# SPDX-License-Identifier: Apache-2.0
"""Pickling and copying of states, modules and learners: what they were made from, and their values."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core, tree
from ._core import Module, State


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


def remembering(layer: type[Module], module: str) -> type[Module]:
    """A layer that is written in C++, whose instances keep what they were made from."""

    def __init__(self: Module, *args: Any, **kwargs: Any) -> None:
        layer.__init__(self, *args, **kwargs)
        self.__dict__.setdefault("_arguments", (args, kwargs))

    return type(layer.__name__, (layer,), {"__init__": __init__, "__doc__": layer.__doc__, "__module__": module})


def _make_module(kind: type[Module], args: Any, kwargs: Any) -> Module:
    module = kind.__new__(kind)
    written = next(c for c in kind.__mro__ if c.__module__.startswith("pybraintrace._core"))
    written.__init__(module, *args, **kwargs)
    if args or kwargs:
        module.__dict__["_arguments"] = args, kwargs
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
    args, kwargs = self.__dict__.get("_arguments", ((), {}))
    saved = {}
    if "_arguments" in self.__dict__:
        inside = {id(s) for a in tree.leaves((args, kwargs)) if isinstance(a, Module) for s in a._states().values()}
        for path, state in self._states().items():
            _, batch, now = state._saved()
            if now is not None and id(state) not in inside:
                saved[path] = batch, _arrays(now)
    return _make_module, (type(self), args, kwargs), (attributes, saved)


for _kind in (_core.ParamState, _core.ShortTermState, _core.HiddenState, _core.HiddenGroupState, _core.LongTermState):
    setattr(_kind, "__reduce__", _reduce_state)
setattr(Module, "__reduce__", _reduce_module)
setattr(Module, "__setstate__", _set_module)
