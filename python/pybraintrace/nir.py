# SPDX-License-Identifier: Apache-2.0
"""Exchange of networks in the Neuromorphic Intermediate Representation (NIR).

>>> import pybraintrace as bt, tempfile, os
>>> description = '{"type": "chain", "layers": [{"name": "w", "type": "linear", "n_in": 2, "n_out": 3},' \\
...               '{"name": "v", "type": "li", "n": 3}]}'
>>> path = os.path.join(tempfile.mkdtemp(), 'net.nir')
>>> bt.nir.save(path, description, bt.build_model(description), [2])
>>> net = bt.nir.load(path)
>>> net.model(bt.numpy.zeros(2)).shape
(3,)

`from_graph` and `to_graph` need the package nir (pip install pybraintrace[nir]); files need no other package.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import _core
from ._modules import init_all_states

__all__ = ["Net", "from_graph", "load", "save", "to_graph"]


@dataclass
class Net:
    """An imported model, its description, and notes about the conversion."""

    model: Any
    description: str
    notes: list[str]


def load(path: str | os.PathLike[str], *, dt: float | None = None, method: str | None = None, reset: str = "hard", surrogate: str = "relu_grad") -> Net:
    """Read a network from a NIR file.

    Args:
        path: the file.
        dt: time step (ms); default: that of the file, or 1.
        method: 'euler' or 'exp_euler'; default: that of the file, or 'euler'.
        reset: 'hard' or 'soft'.
        surrogate: name of the surrogate gradient.
    """
    description, weights, notes = _core.import_nir(os.fspath(path), dt, method, reset, surrogate)
    model = _core.build_model(description)
    _core.set_weights(model, weights)
    init_all_states(model)
    return Net(model, description, list(notes))


def save(path: str | os.PathLike[str], description: str, model: Any, input_shape: Sequence[int]) -> None:
    """Write a model with its current weights to a NIR file.

    Args:
        path: the file.
        description: JSON description from which the model was built.
        model: the model.
        input_shape: shape of one input.

    Raises:
        UserError: NIR cannot express a layer, which the message names.
    """
    _core.export_nir(os.fspath(path), description, model, list(input_shape))


def from_graph(graph: Any, **options: Any) -> Net:
    """Convert a nir.NIRGraph to a network. Options are those of `load`."""
    import tempfile

    import nir

    if not isinstance(graph, nir.NIRGraph):
        raise TypeError(f"from_graph: expected a nir.NIRGraph, got {graph!r:.80}; load reads a file")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.nir")
        nir.write(path, graph)
        return load(path, **options)


def to_graph(description: str, model: Any, input_shape: Sequence[int]) -> Any:
    """Convert a model to a nir.NIRGraph. Arguments are those of `save`."""
    import tempfile

    import nir

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.nir")
        save(path, description, model, input_shape)
        return nir.read(path)
