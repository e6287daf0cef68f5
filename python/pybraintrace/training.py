# SPDX-License-Identifier: Apache-2.0
"""Training by configuration: model, rule, task and optimizer as one dict."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from . import _core
from ._core import Predictions


class Trainer:
    """A training run from a configuration: a dict, or a path of a JSON file.

    With `together` the processes that mpirun started share the run; each makes the same calls.

    >>> import pybraintrace as bt
    >>> layers = [{'name': 'rnn', 'type': 'gru', 'n_in': 6, 'n_rec': 8}, {'name': 'out', 'type': 'linear', 'n_in': 8, 'n_out': 6}]
    >>> trainer = bt.Trainer({'model': {'type': 'chain', 'layers': layers}, 'rule': 'D_RTRL', 'steps': 2,
    ...                       'task': {'type': 'copy', 'lag': 2, 'count': 2, 'symbols': 4}})
    >>> trainer.run()
    'finished'

    A checkpoint answers and is judged:

    >>> import tempfile, pathlib, numpy as np
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> np.savez(folder / 'data.npz', inputs=np.ones((8, 5, 2), 'f'), targets=np.arange(8) % 2)
    >>> trainer = bt.Trainer({'model': {'type': 'chain', 'layers': [{'name': 'rnn', 'type': 'gru', 'n_in': 2, 'n_rec': 4},
    ...                       {'name': 'out', 'type': 'linear', 'n_in': 4, 'n_out': 2}]}, 'rule': 'D_RTRL', 'steps': 2, 'batch': 2,
    ...                       'task': {'type': 'npz', 'file': str(folder / 'data.npz')}})
    >>> trainer.save(folder / 'now.safetensors')
    >>> answers = bt.Trainer.from_checkpoint(folder / 'now.safetensors').predict()
    >>> answers.probabilities.shape[1]
    2
    """

    def __init__(self, config: Any, *, together: bool = False, **replaced: Any) -> None:
        import json

        is_file = isinstance(config, (str, os.PathLike))
        fields = [f"{k.replace('__', '.')}={json.dumps(v) if not isinstance(v, str) else v}" for k, v in replaced.items()]
        if not is_file and replaced:
            raise TypeError("fields are replaced in files only; change the dict")
        self._trainer = _core.Trainer(os.fspath(config) if is_file else json.dumps(config), fields, is_file, together)

    def run(self, progress: bool = False, callback: Callable[[str, int, dict[str, float]], None] | None = None) -> str:
        """To the end; Ctrl-C stops between updates. `callback(what, step, numbers)` hears of every step and validation."""
        if callback is not None:
            self._trainer.observe(callback)
        if progress:
            self._trainer.observe(_Bar(self._trainer.total_updates))
        return self._trainer.run()

    @classmethod
    def from_checkpoint(cls, path: str | os.PathLike[str], *, data: str | os.PathLike[str] | None = None, needs_targets: bool = True) -> Trainer:
        """The run of a checkpoint that a trainer wrote, with its weights: to go on, to be judged, to answer.

        With `data`, another file takes the place of the test part; a table for `predict` alone needs no targets.
        """
        trainer = cls.__new__(cls)
        trainer._trainer = _core.Trainer.of_checkpoint(os.fspath(path), None if data is None else os.fspath(data), needs_targets)
        return trainer

    def evaluate(self, part: str = "validation", batches: int = 0) -> dict[str, Any]:
        """How good the network is on a part: `loss`; of classes `accuracy`, `confusion` and more; of values `r2`, `rmse` and `mae`; `baselines`.

        Over all of the part, or over some batches of it. What `braintrace eval --json` prints.
        """
        import json

        return json.loads(self._trainer.evaluate(batches, part))

    def predict(self, part: str = "validation") -> Predictions:
        """The answers to all samples of a part, which must have an end: arrays with one row for each step that is asked for."""
        return self._trainer.predict(part)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a checkpoint."""
        self._trainer.save(os.fspath(path))

    def load(self, path: str | os.PathLike[str]) -> None:
        """Goes on from a checkpoint of the same configuration."""
        self._trainer.load(os.fspath(path))

    def __getattr__(self, name: str) -> Any:
        if name == "_trainer":  # while it is made
            raise AttributeError(name)
        return getattr(self._trainer, name)


class _Bar:
    def __init__(self, total: int) -> None:
        from tqdm.auto import tqdm

        self._bar = tqdm(total=total)

    def __call__(self, what: str, step: int, numbers: dict[str, float]) -> None:
        if what == "step":
            self._bar.update(step - self._bar.n)
            self._bar.set_postfix(loss=f"{numbers['loss']:.4g}")
