# SPDX-License-Identifier: Apache-2.0
"""Save and load states in safetensors files, under dotted paths.

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
    if not isinstance(states, (Mapping, Module)):
        raise TypeError(f"expected a model, or states by path as model.states() returns them, got {states!r:.80}")
    found = {}
    for path, state in (states.states() if isinstance(states, Module) else states).items():
        dotted = path if isinstance(path, str) else ".".join(map(str, path))
        names = list(state.value) if isinstance(state.value, dict) else [""]
        found.update({f"{dotted}.{n}" if n else dotted: (state, n) for n in names})
    return found


def save(path: str | os.PathLike[str], states: Mapping[Any, Any] | Module, metadata: dict[str, str] | None = None) -> None:
    """Write states to a safetensors file. The file is replaced atomically.

    Args:
        path: the file.
        states: a model, or states by path as `model.states()` returns them.
        metadata: texts to store in the header of the file.
    """
    _core.write_safetensors(os.fspath(path), {k: s.value[n] if n else s.value for k, (s, n) in _leaves(states).items()}, metadata or {})


def load(path: str | os.PathLike[str], states: Mapping[Any, Any] | Module) -> None:
    """Read states from a safetensors file.

    Args:
        path: the file.
        states: a model, or states by path; names and shapes must match those of the file.

    Raises:
        ValueError: names or shapes differ; no state is changed.
    """
    arrays, wanted = _core.read_safetensors(os.fspath(path)), _leaves(states)
    if set(arrays) != set(wanted):
        missing, unknown = sorted(set(wanted) - set(arrays)), sorted(set(arrays) - set(wanted))
        raise ValueError(f"{path}: expected the names of the states; missing: {missing[:5]}, unknown: {unknown[:5]}")
    for name, (state, leaf) in wanted.items():
        now = state.value[leaf] if leaf else state.value
        if arrays[name].shape != now.shape:
            raise ValueError(f"{path}: expected shape {now.shape} for '{name}', got {arrays[name].shape}")
    for name, (state, leaf) in wanted.items():
        state.value = {**state.value, leaf: arrays[name]} if leaf else arrays[name]


def load_weights(model: Any, weights: str | os.PathLike[str] | Mapping[str, Any], *, strict: bool = True) -> dict[str, Any]:
    """Assign weights to the parameters of a model, by path.

    Args:
        model: the model.
        weights: a file (.npz, .safetensors, msgpack), or a dict of arrays.
        strict: require a full match; otherwise nothing is changed and an error is raised.

    Returns:
        A dict with `matched`, `missing`, `unused`, and `other_shape`: (name, type in the file, type in the model).
    """
    arrays = dict(weights) if isinstance(weights, Mapping) else _core.read_weights(os.fspath(weights))
    return _core.set_weights(model, arrays, strict)
