# SPDX-License-Identifier: Apache-2.0
"""The parts of Module that are written in Python: states by kind, hooks, pickling."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import _core

Module = _core.Module
State = _core.State
PathKey = tuple[Any, ...]


class StateDict(dict[PathKey, State]):
    """States by path, as `model.states()` gives them; `model` is whose they are."""

    def __init__(self, states: Any = (), model: Module | None = None) -> None:
        super().__init__(states)
        self.model = model

    def subset(self, *kinds: type[State]) -> StateDict:
        """Those of some kinds."""
        return StateDict({p: s for p, s in self.items() if isinstance(s, kinds)}, self.model)

    def to_dict_values(self) -> dict[PathKey, Any]:
        """Their values by path."""
        return {p: s.value for p, s in self.items()}

    to_dict = to_dict_values

    def assign_values(self, values: dict[PathKey, Any]) -> None:
        """Writes values by path."""
        for path, value in values.items():
            self[path].value = value

    def unique(self) -> StateDict:
        """The same: a state that several parts share is listed once already."""
        return self

    def split(self, *kinds: type[State]) -> tuple[StateDict, ...]:
        """One group per kind, and the rest."""
        groups, rest = [], dict(self)
        for kind in kinds:
            groups.append(StateDict({p: s for p, s in rest.items() if isinstance(s, kind)}, self.model))
            rest = {p: s for p, s in rest.items() if not isinstance(s, kind)}
        return (*groups, StateDict(rest, self.model))


class Part:
    """A part of a layer that is written in C++, seen through its states."""

    def __init__(self, name: str, states: dict[PathKey, State]) -> None:
        self._name, self._states = name, StateDict(states)

    def states(self, *kinds: type[State]) -> StateDict:
        """States below it, by path."""
        return self._states.subset(*kinds) if kinds else self._states

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        below = {}
        for path, state in self._states.items():
            if path == (name,):
                return state
            if path[0] == name:
                below[path[1:]] = state
        if below:
            return Part(name, below)
        raise AttributeError(f"'{self._name}' has no part '{name}'")

    def __repr__(self) -> str:
        return f"{self._name}({', '.join('.'.join(map(str, p)) for p in self._states)})"


def call_hook(method: Callable[..., Any], batch_size: int | None) -> None:
    """Calls init_state or reset_state with what it takes: a batch size by name or position, or nothing."""
    try:
        parameters = inspect.signature(method).parameters
    except (TypeError, ValueError):
        method()
        return
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    if "batch_size" in parameters or takes_any:
        method(batch_size=batch_size)
    elif parameters and batch_size is not None:
        method(batch_size)
    else:
        method()


def _states(self: Module, *kinds: type[State]) -> StateDict:
    """All states below this module by path; of some kinds where these are given.

    >>> import pybraintrace as bt
    >>> list(bt.nn.Linear(2, 3).states(bt.ParamState))
    [('weight',)]
    """
    found = StateDict(self._states(), self)
    return found.subset(*kinds) if kinds else found


def _nodes(self: Module, *kinds: type[Module]) -> dict[PathKey, Module]:
    """The modules of the model by path, itself first."""
    return {p: m for p, m in walk(self) if isinstance(m, kinds or Module)}


def walk(model: Module) -> Iterator[tuple[PathKey, Module]]:
    """Modules that Python holds, each once, with their paths."""
    seen: set[int] = set()

    def inside(value: Any, path: PathKey) -> Iterator[tuple[PathKey, Module]]:
        if isinstance(value, Module):
            if id(value) in seen:
                return
            seen.add(id(value))
            yield path, value
            for name, part in getattr(value, "__dict__", {}).items():
                yield from inside(part, (*path, name))
        elif isinstance(value, (list, tuple)):
            for i, part in enumerate(value):
                yield from inside(part, (*path, i))
        elif isinstance(value, dict):
            for name, part in value.items():
                yield from inside(part, (*path, name))

    return inside(model, ())


def init_all_states(model: Module, batch_size: int | None = None, **kwargs: Any) -> Module:
    """Gives every state its first value, calls `init_state` of every module, and returns the model."""
    _core.init_all_states(model, kwargs.get("batch_size", batch_size))
    record(model)
    return model


def reset_all_states(model: Module, batch_size: int | None = None, **kwargs: Any) -> Module:
    """The same again, before a new sequence; without a batch size, with that of the last init."""
    _core.reset_all_states(model, kwargs.get("batch_size", batch_size))
    return model


def _rshift(self: Module, other: Any) -> Any:
    from .nn import Sequential

    return Sequential(self, other)


def _rrshift(self: Module, x: Any) -> Any:
    return self(x)


def _init_subclass(cls: type[Module], **kwargs: Any) -> None:
    """A constructor that forgets that of its base class fails where it is written, not where the model is used."""
    super(Module, cls).__init_subclass__(**kwargs)
    own = cls.__dict__.get("__init__")
    if own is None:
        return

    @functools.wraps(own)
    def __init__(self: Module, *args: Any, **kwargs: Any) -> None:
        own(self, *args, **kwargs)
        if not _core.is_made(self):
            raise TypeError(f"{type(self).__name__}: its __init__ does not call super().__init__(); do so before anything else")

    setattr(cls, "__init__", __init__)


setattr(Module, "__init_subclass__", classmethod(_init_subclass))
setattr(Module, "states", _states)
setattr(Module, "nodes", _nodes)
setattr(Module, "__rshift__", _rshift)
setattr(Module, "__rrshift__", _rrshift)

_events: list[Any] | None = None


@contextmanager
def recording() -> Iterator[list[Any]]:
    """Lists the models that are initialized and the learners that are compiled inside a `with`."""
    global _events
    before, _events = _events, []
    try:
        yield _events
    finally:
        _events = before


def record(event: Any) -> None:
    """Notes a model or learner for `recording`."""
    if _events is not None:
        _events.append(event)
