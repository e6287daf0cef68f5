# SPDX-License-Identifier: Apache-2.0
"""Training by configuration: model, rule, task and optimizer as one dict."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from . import _core


class Trainer:
    """A training run from a configuration: a dict, or a path of a JSON file.

    With `together` the processes that mpirun started share the run; each makes the same calls.

    >>> import pybraintrace as bt
    >>> layers = [{'name': 'rnn', 'type': 'gru', 'n_in': 6, 'n_rec': 8}, {'name': 'out', 'type': 'linear', 'n_in': 8, 'n_out': 6}]
    >>> trainer = bt.Trainer({'model': {'type': 'chain', 'layers': layers}, 'rule': 'D_RTRL', 'steps': 2,
    ...                       'task': {'type': 'copy', 'lag': 2, 'count': 2, 'symbols': 4}})
    >>> trainer.run()
    'finished'
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

    def __getattr__(self, name: str) -> Any:
        return getattr(self._trainer, name)


class _Bar:
    def __init__(self, total: int) -> None:
        from tqdm.auto import tqdm

        self._bar = tqdm(total=total)

    def __call__(self, what: str, step: int, numbers: dict[str, float]) -> None:
        if what == "step":
            self._bar.update(step - self._bar.n)
            self._bar.set_postfix(loss=f"{numbers['loss']:.4g}")
