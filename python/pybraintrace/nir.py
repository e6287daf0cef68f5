# SPDX-License-Identifier: Apache-2.0
"""Networks of other packages: graphs in the Neuromorphic Intermediate Representation (NIR).

>>> import pybraintrace as bt, tempfile, os
>>> description = '{"type": "chain", "layers": [{"name": "w", "type": "linear", "n_in": 2, "n_out": 3},' \\
...               '{"name": "v", "type": "li", "n": 3}]}'
>>> path = os.path.join(tempfile.mkdtemp(), 'net.nir')
>>> bt.nir.save(path, description, bt.build_model(description), [2])
>>> net = bt.nir.load(path)
>>> net.model(bt.numpy.zeros(2)).shape
(3,)

Files need no other package. `from_graph` and `to_graph` exchange objects of the package nir (pip install pybraintrace[nir]).
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
    """A model, the description it was built from, and what its author should know."""

    model: Any
    description: str
    notes: list[str]


def load(path: str | os.PathLike[str], *, dt: float | None = None, method: str | None = None, reset: str = "hard", surrogate: str = "relu_grad") -> Net:
    """The network of a NIR file. `dt` in ms and `method` ('euler' or 'exp_euler') are those of the file where it has them, else 1 and 'euler'."""
    description, weights, notes = _core.import_nir(os.fspath(path), dt, method, reset, surrogate)
    model = _core.build_model(description)
    _core.set_weights(model, weights)
    init_all_states(model)
    return Net(model, description, list(notes))


def save(path: str | os.PathLike[str], description: str, model: Any, input_shape: Sequence[int]) -> None:
    """Writes a model, built from a description, with its present weights. What NIR cannot say is an error that names the layer."""
    _core.export_nir(os.fspath(path), description, model, list(input_shape))


def from_graph(graph: Any, **options: Any) -> Net:
    """The network of a nir.NIRGraph; options as those of `load`."""
    import tempfile

    import nir

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.nir")
        nir.write(path, graph)
        return load(path, **options)


def to_graph(description: str, model: Any, input_shape: Sequence[int]) -> Any:
    """The same as a nir.NIRGraph."""
    import tempfile

    import nir

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.nir")
        save(path, description, model, input_shape)
        return nir.read(path)
