# SPDX-License-Identifier: Apache-2.0
"""Pickling and copying: objects are rebuilt from the arguments of their constructors and from their values."""

from __future__ import annotations

import functools
from collections.abc import Callable
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


def _make_random(key: Any, extra: dict[str, Any]) -> Any:
    stream = _core.RandomState()
    stream.value = key
    stream.__dict__.update(extra)
    return stream


def _reduce_random(self: Any) -> Any:
    return _make_random, (np.array(self.value), dict(self.__dict__))


# Modules --------------------------------------------------------------------------------------------------------------


def remembering(layer: type[Module], module: str) -> type[Module]:
    """Return a subclass of a C++ layer whose instances keep the arguments of their constructor.

    The library runs the update of a layer and knows its parts: what Python would replace or add is an error.
    """

    def __init__(self: Module, *args: Any, **kwargs: Any) -> None:
        layer.__init__(self, *args, **kwargs)
        self.__dict__.setdefault("_arguments", (args, kwargs))

    def __setattr__(self: Module, name: str, value: Any) -> None:
        if isinstance(value, (Module, State)) and not hasattr(type(self), name):
            raise TypeError(f"{type(self).__name__}: '{name}' cannot be added to a layer of the library; write an nn.Module that holds both")
        layer.__setattr__(self, name, value)

    return type(layer.__name__, (layer,), {"__init__": __init__, "__setattr__": __setattr__, "_layer": layer.__name__, "__doc__": layer.__doc__, "__module__": module})


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
setattr(_core.RandomState, "__reduce__", _reduce_random)
setattr(Module, "__reduce__", _reduce_module)
setattr(Module, "__setstate__", _set_module)


# Settings: initializers, schedules, surrogates, points in the space of rules -----------------------------------------------


def noting(make: Callable[..., Any], module: str) -> Callable[..., Any]:
    """Wrap a function so that its results record how they were made."""

    @functools.wraps(make)
    def made(*args: Any, **kwargs: Any) -> Any:
        result = make(*args, **kwargs)
        result._made = made, args, kwargs
        return result

    made.__module__ = module
    return made


def _text_of_call(name: str, args: Any, kwargs: dict[str, Any]) -> str:
    return f"{name}({', '.join([*map(repr, args), *(f'{key}={value!r}' for key, value in kwargs.items())])})"


_name_of_schedule = _core.optim.Schedule.__repr__


def _text_of_schedule(self: Any) -> str:
    if "_made" not in self.__dict__:
        return _name_of_schedule(self)
    make, args, kwargs = self._made
    return _text_of_call(make.__name__, args, kwargs)


def _call(make: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    return make(*args, **kwargs)


def _reduce_made(self: Any) -> Any:
    if "_made" not in self.__dict__:
        raise TypeError(f"{self!r} cannot be pickled or copied; create it with a function of this package")
    epoch = (self.epoch,) if isinstance(self, _core.optim.Schedule) else ()
    return (_call, self._made, *epoch)


def _reduce_surrogate(self: Any) -> Any:
    return _core.spiking.Surrogate, (self.kind, list(self.params))


def _reduce_config(self: Any) -> Any:
    return _call, (_core.ETraceConfig, (), self._axes)


def _make_step_data(is_multi: bool, data: Any) -> Any:
    return (_core.MultiStepData if is_multi else _core.SingleStepData)(data)


def _reduce_step_data(self: Any) -> Any:
    return _make_step_data, (self.is_multi, self.data)


def _text_of_step_data(self: Any) -> str:
    return _text_of_call("MultiStepData" if self.is_multi else "SingleStepData", (self.data,), {})


def _set_epoch(self: Any, epoch: int) -> None:
    self.epoch = epoch


for _kind in (_core.init.Initializer, _core.optim.Schedule):
    setattr(_kind, "__reduce__", _reduce_made)
setattr(_core.optim.Schedule, "__setstate__", _set_epoch)
setattr(_core.optim.Schedule, "__repr__", _text_of_schedule)
setattr(_core.spiking.Surrogate, "__reduce__", _reduce_surrogate)
setattr(_core.ETraceConfig, "__reduce__", _reduce_config)
setattr(_core.StepData, "__reduce__", _reduce_step_data)
setattr(_core.StepData, "__repr__", _text_of_step_data)

# Optimizers -----------------------------------------------------------------------------------------------------------


def optimizer(written: type[Any], module: str) -> type[Any]:
    """Return a subclass of an optimizer whose instances keep the arguments of their constructor and the model that they update."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        written.__init__(self, *args, **kwargs)
        self._arguments, self._registered, self._model, self._paths, self._groups = (args, kwargs), False, None, None, []

    def register_trainable_weights(self: Any, weights: Any) -> None:
        written.register_trainable_weights(self, weights)
        is_model, self._registered = isinstance(weights, Module), True
        self._model = weights if is_model else getattr(weights, "model", None)
        self._paths = None if is_model else list(weights) if hasattr(weights, "keys") else None

    def group(self: Any, path: Any, *args: Any, **kwargs: Any) -> None:
        written.group(self, path, *args, **kwargs)
        self._groups.append((path, args, kwargs))

    def __repr__(self: Any) -> str:
        return _text_of_call(type(self).__name__, *self._arguments)

    def __reduce__(self: Any) -> Any:
        if self._registered and self._model is None:
            raise TypeError(f"{type(self).__name__}: it cannot be pickled or copied; register the model or model.states(ParamState), "
                            "so that the copy finds the weights of its model")
        values = {path: _arrays(state.value) for path, state in self.states().items()} if self._model is not None else None
        return _call, (type(self), *self._arguments), (self._model, self._paths, self._groups, values, self.lr.epoch)

    def __setstate__(self: Any, state: Any) -> None:
        model, paths, groups, values, epoch = state
        if model is not None:
            found = model.states()
            self.register_trainable_weights(model if paths is None else type(found)({p: found[p] for p in paths}, model))
            for path, more, named in groups:
                self.group(path, *more, **named)
            for path, own in self.states().items():
                own.value = values[path]
        self.lr.epoch = epoch

    for method in (register_trainable_weights, group):
        method.__doc__ = getattr(written, method.__name__).__doc__
    methods = {f.__name__: f for f in (__init__, register_trainable_weights, group, __repr__, __reduce__, __setstate__)}
    return type(written.__name__, (written,), {**methods, "__doc__": written.__doc__, "__module__": module})


def plateau(written: type[Any], module: str) -> type[Any]:
    """Return a subclass of ReduceLROnPlateau whose instances keep the arguments of their constructor and the values that they saw."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        written.__init__(self, *args, **kwargs)
        self._arguments, self._seen = (args, kwargs), []

    def step(self: Any, value: float) -> None:
        written.step(self, value)
        self._seen.append(float(value))

    def __repr__(self: Any) -> str:
        return _text_of_call(type(self).__name__, *self._arguments)

    def __reduce__(self: Any) -> Any:
        return _call, (type(self), *self._arguments), list(self._seen)

    def __setstate__(self: Any, seen: list[float]) -> None:
        for value in seen:
            self.step(value)

    step.__doc__ = written.step.__doc__
    methods = {f.__name__: f for f in (__init__, step, __repr__, __reduce__, __setstate__)}
    return type(written.__name__, (written,), {**methods, "__doc__": written.__doc__, "__module__": module})
