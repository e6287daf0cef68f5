# SPDX-License-Identifier: Apache-2.0
"""States in safetensors files, under dotted paths.

>>> import pybraintrace as bt, tempfile, os
>>> layer = bt.nn.Linear(2, 3)
>>> path = os.path.join(tempfile.mkdtemp(), 'weights.safetensors')
>>> bt.save(path, layer.states())
>>> bt.load(path, layer.states())
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from . import _core
from ._core import Module


def _leaves(states: Mapping[Any, Any] | Module) -> dict[str, tuple[Any, str]]:
    found = {}
    for path, state in (states.states() if isinstance(states, Module) else states).items():
        dotted = path if isinstance(path, str) else ".".join(map(str, path))
        names = list(state.value) if isinstance(state.value, dict) else [""]
        found.update({f"{dotted}.{n}" if n else dotted: (state, n) for n in names})
    return found


def save(path: str | os.PathLike[str], states: Mapping[Any, Any] | Module, metadata: dict[str, str] | None = None) -> None:
    """Writes the values of states, of a model or as model.states() gives them; the file is written whole or not at all."""
    _core.write_safetensors(os.fspath(path), {k: s.value[n] if n else s.value for k, (s, n) in _leaves(states).items()}, metadata or {})


def load(path: str | os.PathLike[str], states: Mapping[Any, Any] | Module) -> None:
    """Writes what a file holds into states; names, shapes and types must agree."""
    arrays, wanted = _core.read_safetensors(os.fspath(path)), _leaves(states)
    if set(arrays) != set(wanted):
        missing, unknown = sorted(set(wanted) - set(arrays)), sorted(set(arrays) - set(wanted))
        raise ValueError(f"{path}: it lacks {missing[:5]} and has {unknown[:5]} that the states do not")
    for name, (state, leaf) in wanted.items():
        now = state.value[leaf] if leaf else state.value
        if arrays[name].shape != now.shape:
            raise ValueError(f"{path}: '{name}' has shape {arrays[name].shape}, the state {now.shape}")
    for name, (state, leaf) in wanted.items():
        state.value = {**state.value, leaf: arrays[name]} if leaf else arrays[name]


def load_weights(model: Any, weights: str | os.PathLike[str] | Mapping[str, Any], *, strict: bool = True) -> dict[str, Any]:
    """Writes weights into the parameters of a model, by path: of a file (.npz, .safetensors, msgpack), or of a dict of arrays.

    Gives a report: `matched`, `missing`, `unused`, and `other_shape` as (name, type in the file, type in the model). Unless
    `strict` is False, anything but a full match is an error, and nothing is changed.
    """
    arrays = dict(weights) if isinstance(weights, Mapping) else _core.read_weights(os.fspath(weights))
    return _core.set_weights(model, arrays, strict)
