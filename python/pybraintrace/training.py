# SPDX-License-Identifier: Apache-2.0
"""Training from a configuration: model, rule, task and optimizer in one dict."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from . import _config, _core
from ._core import Predictions


class Trainer:
    """A training run from a configuration.

    Args:
        config: a dict, or the path of a JSON file.
        together: share the run among the processes started by mpirun; each must make the same calls.
        replaced: fields of the file to replace, with `__` for dots: `task__lag=3`.

    >>> import pybraintrace as bt
    >>> layers = [{'name': 'rnn', 'type': 'gru', 'n_in': 6, 'n_rec': 8}, {'name': 'out', 'type': 'linear', 'n_in': 8, 'n_out': 6}]
    >>> trainer = bt.Trainer({'model': {'type': 'chain', 'layers': layers}, 'rule': 'D_RTRL', 'steps': 2,
    ...                       'task': {'type': 'copy', 'lag': 2, 'count': 2, 'symbols': 4}})
    >>> trainer.run()
    'finished'

    Predict with a checkpoint:

    >>> import tempfile, pathlib, numpy as np
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> np.savez(folder / 'data.npz', inputs=np.ones((8, 5, 2), 'f'), targets=np.arange(8) % 2)
    >>> trainer = bt.Trainer({'model': {'type': 'chain', 'layers': [{'name': 'rnn', 'type': 'gru', 'n_in': 2, 'n_rec': 4},
    ...                       {'name': 'out', 'type': 'linear', 'n_in': 4, 'n_out': 2}]}, 'rule': 'D_RTRL', 'steps': 2, 'batch': 2,
    ...                       'task': {'type': 'npz', 'file': str(folder / 'data.npz')}})
    >>> trainer.save(folder / 'now.safetensors')
    >>> predictions = bt.Trainer.from_checkpoint(folder / 'now.safetensors').predict()
    >>> predictions.probabilities.shape[1]
    2
    """

    def __init__(self, config: Any, *, together: bool = False, **replaced: Any) -> None:
        is_file = isinstance(config, (str, os.PathLike))
        fields = [f"{k.replace('__', '.')}={v if isinstance(v, str) else _config.as_text('Trainer', v)}" for k, v in replaced.items()]
        if not is_file and replaced:
            raise TypeError("Trainer: fields can be replaced only if the configuration is a file; change the dict instead")
        self._trainer = _core.Trainer(os.fspath(config) if is_file else _config.as_text("Trainer", config), fields, is_file, together)

    def run(self, progress: bool = False, callback: Callable[[str, int, dict[str, float]], None] | None = None) -> str:
        """Train to the end. Ctrl-C stops between updates.

        Args:
            progress: show a progress bar (needs tqdm).
            callback: function of (what, step, numbers) that is called after every step and validation.

        Returns:
            'finished', 'early_stop', 'interrupted' or 'not_finite'.
        """
        if callback is not None:
            self._trainer.observe(callback)
        if not progress:
            return self._trainer.run()
        bar = _Bar(self._trainer.total_updates)
        self._trainer.observe(bar)
        try:
            return self._trainer.run()
        finally:
            bar.close()

    @classmethod
    def from_checkpoint(cls, path: str | os.PathLike[str], *, data: str | os.PathLike[str] | None = None, needs_targets: bool = True) -> Trainer:
        """Create the run of a checkpoint with its weights, to resume, evaluate or predict.

        Args:
            path: a checkpoint that a Trainer wrote.
            data: file that replaces the test part.
            needs_targets: whether `data` must contain targets; `predict` does not need them.
        """
        trainer = cls.__new__(cls)
        trainer._trainer = _core.Trainer.of_checkpoint(os.fspath(path), None if data is None else os.fspath(data), needs_targets)
        return trainer

    def evaluate(self, part: str = "validation", batches: int = 0) -> dict[str, Any]:
        """Evaluate the network on a part.

        Args:
            part: 'train', 'validation' or 'test'.
            batches: number of batches; 0 for the whole part.

        Returns:
            The output of `braintrace eval --json`: `loss`; for classes, `accuracy`, `confusion` and more; for values, `r2`, `rmse` and
            `mae`; and `baselines`.
        """
        import json

        return json.loads(self._trainer.evaluate(batches, part))

    def predict(self, part: str = "validation") -> Predictions:
        """Return predictions for all samples of a part, one row per step with a target. The part must be finite."""
        return self._trainer.predict(part)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a checkpoint."""
        self._trainer.save(os.fspath(path))

    def load(self, path: str | os.PathLike[str]) -> None:
        """Resume from a checkpoint of the same configuration."""
        self._trainer.load(os.fspath(path))

    def __getattr__(self, name: str) -> Any:
        if name == "_trainer":  # during construction
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

    def close(self) -> None:
        self._bar.close()
