# SPDX-License-Identifier: Apache-2.0
"""Python part of Module: states by kind, hooks, recording."""

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


tags: set[str] = set()  # that compat.brainstate gave to states with one value per sample


def is_lane(state: State) -> bool:
    """Return whether the state has one value per sample."""
    return not isinstance(state, (_core.ParamState, _core.LongTermState))


class StateDict(dict[PathKey, State]):
    """States by path, as `model.states()` returns them; `model` is their model."""

    def __init__(self, states: Any = (), model: Module | None = None) -> None:
        super().__init__(states)
        self.model = model

    def subset(self, *kinds: type[State] | str) -> Any:
        """Return the states of a kind; for several kinds, a tuple with the states of each that none before it has.

        The name of a tag (`vmap_new_states` of compat) stands for the states with one value per sample.
        """
        groups = self.split(*kinds)[:-1]
        return groups[0] if len(groups) == 1 else groups

    def to_dict_values(self) -> dict[PathKey, Any]:
        """Return the values by path."""
        return {p: s.value for p, s in self.items()}

    to_dict = to_pytree_value = to_dict_values

    def to_pytree(self) -> StateDict:
        """Return the states by path, as this object already is."""
        return self

    def assign_values(self, values: dict[PathKey, Any]) -> None:
        """Assign values by path."""
        for path, value in values.items():
            self[path].value = value

    def unique(self) -> StateDict:
        """Return the states unchanged: a shared state is already listed only once."""
        return self

    def split(self, *kinds: type[State] | str) -> tuple[StateDict, ...]:
        """Return one group per kind, and the remaining states."""
        groups, rest = [], dict(self)
        for kind in kinds:
            if isinstance(kind, str) and kind not in tags:
                raise _core.UnknownNameError(f"states: no state has the tag {kind!r}; filter by class, such as ParamState")
            chosen = {p: s for p, s in rest.items() if (is_lane(s) if isinstance(kind, str) else isinstance(s, kind))}
            groups.append(StateDict(chosen, self.model))
            rest = {p: s for p, s in rest.items() if p not in chosen}
        return (*groups, StateDict(rest, self.model))


class Part:
    """A part of a C++ layer, represented by its states."""

    def __init__(self, name: str, states: dict[PathKey, State]) -> None:
        self._name, self._states = name, StateDict(states)

    def states(self, *kinds: type[State]) -> Any:
        """Return the states by path, of one kind or all; for several kinds, a tuple."""
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


def setting_of(text: str) -> Any:
    """Return the value of a setting of a layer from its text; NotImplemented if the text is a description, such as that of a function."""
    import ast

    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return NotImplemented


def call_hook(method: Callable[..., Any], batch_size: int | None) -> None:
    """Call init_state or reset_state with the batch size by name or position, or without it, as its signature requires."""
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


def _states(self: Module, *kinds: type[State] | str) -> Any:
    """Return the states of the module by path, of one kind or all; for several kinds, a tuple.

    >>> import pybraintrace as bt
    >>> list(bt.nn.Linear(2, 3).states(bt.ParamState))
    [('weight',)]
    >>> params, hidden = bt.nn.GRUCell(2, 3).states(bt.ParamState, bt.HiddenState)
    >>> list(hidden)
    [('h',)]
    """
    found = StateDict(self._states(), self)
    return found.subset(*kinds) if kinds else found


def _nodes(self: Module, *kinds: type[Module]) -> dict[PathKey, Module]:
    """Return the module and its submodules by path, of some kinds or all."""
    return {p: m for p, m in walk(self) if isinstance(m, kinds or Module)}


def walk(model: Module) -> Iterator[tuple[PathKey, Module]]:
    """Iterate over the modules held by Python attributes, each once, with their paths."""
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
        elif hasattr(type(value), "__dataclass_fields__"):
            for name in value.__dataclass_fields__:
                yield from inside(getattr(value, name, None), (*path, name))

    return inside(model, ())


def init_all_states(model: Module, batch_size: int | None = None, **kwargs: Any) -> Module:
    """Initialize all states of a model, and call `init_state` of every module.

    Args:
        model: the model.
        batch_size: size of the leading batch axis of the states; None for no batch axis.

    Returns:
        The model.
    """
    _core.init_all_states(model, kwargs.get("batch_size", batch_size))
    record(model)
    return model


def reset_all_states(model: Module, batch_size: int | None = None, **kwargs: Any) -> Module:
    """Reset all states of a model before a new sequence, and call `reset_state` of every module.

    Args:
        model: the model.
        batch_size: size of the leading batch axis; default: that of the last initialization.

    Returns:
        The model.
    """
    _core.reset_all_states(model, kwargs.get("batch_size", batch_size))
    return model


def _rshift(self: Module, other: Any) -> Any:
    from .nn import Sequential

    return Sequential(self, other)


def _rrshift(self: Module, x: Any) -> Any:
    return self(x)


def _init_subclass(cls: type[Module], **kwargs: Any) -> None:
    """Check that constructors call super().__init__(), so that a forgotten call fails there and not where the model is used.

    Also check that a step is written where learners look for it, and that no subclass of a layer of the library replaces what the
    library runs.
    """
    super(Module, cls).__init_subclass__(**kwargs)
    if vars(cls).get("__call__") not in (None, vars(cls).get("update")):
        raise TypeError(f"{cls.__name__}: learners and other modules call `update`, so they would pass over __call__; define `update` instead")
    replaced = [name for name in ("update", "init_state", "reset_state") if name in vars(cls)]
    if replaced and hasattr(cls, "_layer"):
        raise TypeError(f"{cls.__name__}: {replaced[0]} of the layer {cls._layer} cannot be replaced; write an nn.Module that holds the layer")
    own = cls.__dict__.get("__init__")
    if own is None:
        return

    @functools.wraps(own)
    def __init__(self: Module, *args: Any, **kwargs: Any) -> None:
        own(self, *args, **kwargs)
        if not _core.is_made(self):
            raise TypeError(f"{type(self).__name__}: __init__ does not call super().__init__(); call it first")

    setattr(cls, "__init__", __init__)


setattr(Module, "__init_subclass__", classmethod(_init_subclass))
setattr(Module, "states", _states)
setattr(Module, "nodes", _nodes)
setattr(Module, "__rshift__", _rshift)
setattr(Module, "__rrshift__", _rrshift)

_events: list[Any] | None = None


@contextmanager
def recording() -> Iterator[list[Any]]:
    """Context manager that lists the models initialized and the learners compiled inside it."""
    global _events
    before, _events = _events, []
    try:
        yield _events
    finally:
        _events = before


def record(event: Any) -> None:
    """Add a model or learner to the list of `recording`."""
    if _events is not None:
        _events.append(event)
