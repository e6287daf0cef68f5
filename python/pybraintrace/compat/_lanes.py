# SPDX-License-Identifier: Apache-2.0
"""Batches of models written for one sample: their states get a leading axis, one lane per sample."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import _core, _modules, algorithms, numpy, transform, tree


def lane_states(model: Any) -> dict[Any, Any]:
    """Return the states with one value per lane: all but parameters and long-term states."""
    return {p: s for p, s in model.states().items() if _modules.is_lane(s)}


def _add_tag(tag: str | None) -> None:
    if tag is not None:
        _modules.tags.add(tag)


def vmap_init_all_states(model: Any, *, axis_size: int | None = None, state_tag: str | None = None, **_: Any) -> Any:
    """Initialize all states with `axis_size` lanes."""
    _add_tag(state_tag)
    return _modules.init_all_states(model, axis_size)


def reset_all_states(target: Any, batch_size: int | None = None, **options: Any) -> Any:
    """Reset all states of a model, or of a learner with its traces, also inside of Vmap."""
    inner = target.module if isinstance(target, Vmap) else target
    is_learner = isinstance(inner, algorithms.OnlineLearner)
    has_lanes = is_learner and inner._lanes is not None and batch_size in (None, inner._lanes)
    if has_lanes and not any(s._is_in_lane() for s in inner.model.states().values()):  # inside of a vmap, a lane is a single sample
        inner.reset()
        return target
    _modules.reset_all_states(inner.model if is_learner else inner, batch_size, **options)
    if is_learner:
        inner.reset_state(batch_size)
    return target


def vmap_new_states(f: Callable[..., Any] | None = None, *, axis_size: int | None = None, state_tag: str | None = None, **_: Any) -> Any:
    """Call f, which creates states for one sample, and give each learner that it compiled, or model that it initialized, `axis_size` lanes."""
    if f is None:
        return functools.partial(vmap_new_states, axis_size=axis_size, state_tag=state_tag)
    _add_tag(state_tag)

    @functools.wraps(f)
    def made(*args: Any, **kwargs: Any) -> Any:
        with _modules.recording() as events:
            out = f(*args, **kwargs)
        learners = [e for e in events if isinstance(e, algorithms.OnlineLearner)]
        mapped = {id(learner.model) for learner in learners}
        for learner in learners:
            learner._run_in_lanes(axis_size)
        for model in events:
            if isinstance(model, _core.Module) and id(model) not in mapped:
                _modules.init_all_states(model, axis_size)
        return out

    return made


def _moved(values: Any, source: int, destination: int) -> Any:
    return values if source == destination else tree.map(lambda x: numpy.moveaxis(x, source, destination), values)


class Vmap:
    """A model or learner for one sample, applied to all lanes."""

    def __init__(self, module: Any, in_axes: Any = 0, out_axes: int = 0, vmap_states: Any = None, **_: Any) -> None:
        self.module, self._axes = module, (in_axes, out_axes)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if isinstance(self.module, algorithms.OnlineLearner):
            in_axes, out_axes = self._axes
            axes = in_axes if isinstance(in_axes, (list, tuple)) else [in_axes] * len(args)
            if len(axes) != len(args) or not all(isinstance(axis, int) for axis in axes):
                raise TypeError(f"Vmap: a learner has a lane per sample in each of its {len(args)} inputs; expected an axis for each in in_axes, got {in_axes!r}")
            out = self.module(*(_moved(x, axis, 0) for x, axis in zip(args, axes)), **kwargs)
            return _moved(out, 0, out_axes)
        mapped = transform.vmap(self.module, in_axes=self._axes[0], out_axes=self._axes[1], in_states=lane_states(self.module))
        return mapped(*args, **kwargs)

    update = __call__

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)


def Map(module: Any, init_map_size: int, **_: Any) -> Vmap:
    """Initialize a model with lanes and return its Vmap."""
    _modules.init_all_states(module, init_map_size)
    return Vmap(module)
