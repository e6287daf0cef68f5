# SPDX-License-Identifier: Apache-2.0
"""Tasks, which generate batches of sequences with targets; and encodings of numbers as spikes.

>>> from pybraintrace import tasks
>>> task = tasks.Task({'type': 'copy', 'lag': 3, 'count': 2, 'symbols': 4}, seed=1)
>>> inputs, targets, mask = task.batch('train', 0, 8)
>>> inputs.shape[1:] == (8, *task.input_shape) and targets.shape == mask.shape
True
>>> tasks.latency_spikes([1.0, 0.5], 3).tolist()
[[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _config, _core
from ._core.tasks import delta_events, delta_signal, latency_spikes, latency_values, poisson_spikes, task_types

__all__ = ["Batch", "Task", "delta_events", "delta_signal", "latency_spikes", "latency_values", "poisson_spikes", "task_types"]


class Batch(NamedTuple):
    """Inputs, targets and mask of a batch, with the time axis first. Shorter sequences are padded and masked."""

    inputs: np.ndarray
    targets: np.ndarray
    mask: np.ndarray


class Task:
    """A task from its description. A batch depends only on seed, part and index.

    Args:
        description: a dict or JSON text, as in a training configuration.
        seed: seed of the data.
    """

    def __init__(self, description: dict[str, Any] | str, seed: int = 0) -> None:
        self._description, self._seed = description, seed
        self._task = _core.tasks.make_task(description if isinstance(description, str) else _config.as_text("Task", description), seed)

    def batch(self, part: str, index: int, size: int) -> Batch:
        """Return one batch.

        Args:
            part: 'train', 'validation' or 'test'.
            index: index of the batch.
            size: number of samples.

        Returns:
            A Batch: inputs [T, size, ...], targets, and mask, the weight of each step's loss.
        """
        return Batch(*self._task.batch(part, index, size))

    def samples(self, part: str) -> int:
        """Return the number of samples of a part; 0 if batches are generated endlessly."""
        return self._task.samples(part)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one step of one sample."""
        return tuple(self._task.input_shape)

    @property
    def outputs(self) -> int:
        """Number of classes, or width of the target values."""
        return self._task.outputs

    @property
    def length(self) -> int:
        """Number of steps of the longest sequence."""
        return self._task.length

    @property
    def has_classes(self) -> bool:
        """Whether targets are classes rather than values."""
        return self._task.has_classes

    @property
    def class_names(self) -> list[str]:
        """Names of the classes, if there are any."""
        return self._task.class_names

    def __repr__(self) -> str:
        return f"Task({self._description!r}, seed={self._seed})"

    def _repr_svg_(self) -> str:
        return self._task.to_svg()
