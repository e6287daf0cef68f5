# SPDX-License-Identifier: Apache-2.0
"""Models that learn from streams of records: one stream, or a fleet of many that share one compiled program."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from . import _config, _core
from ._core import Tensor


class Answers(NamedTuple):
    """Result of a step of a fleet, one row per member."""

    predictions: Tensor
    losses: Tensor | None
    undone: list[tuple[int | tuple[int, int], str]]  # (index into the losses, reason) of steps that a guarded fleet undid


def _settings(rule: str, lr: float, optimizer: str | dict[str, Any], loss: str, options: dict[str, Any] | None) -> tuple[Any, ...]:
    chosen = optimizer if isinstance(optimizer, str) else _config.as_text("optimizer", optimizer)
    return rule, _config.as_text("options", options or {}), loss, chosen, lr


class OnlineStream:
    """A model that learns from a stream: it predicts each record with the current weights, then learns from it.

    Model, traces, gradient and update are one compiled program.

    Args:
        model: the model.
        example: example input of one record.
        rule: name of the learning rule.
        lr: learning rate.
        optimizer: a name, or a dict such as `{'type': 'sgd', 'momentum': 0.9}`.
        loss: 'mse' or 'cross_entropy'.
        options: options of the rule.

    >>> import pybraintrace as bt
    >>> stream = bt.OnlineStream(bt.nn.Sequential(bt.nn.GRUCell(3, 8), bt.nn.Linear(8, 2)), bt.numpy.zeros(3), lr=1e-2)
    >>> prediction, loss = stream.learn(bt.numpy.ones(3), bt.numpy.zeros(2))
    >>> prediction.shape, stream.records
    ((2,), 1)
    """

    def __init__(self, model: Any, example: Any, *, rule: str = "D_RTRL", lr: float = 1e-3, optimizer: str | dict[str, Any] = "adam",
                 loss: str = "mse", options: dict[str, Any] | None = None) -> None:
        self._stream = _core.OnlineStream(model, example, *_settings(rule, lr, optimizer, loss, options))
        self.records = 0  # number of records learned from

    def learn(self, x: Any, y: Any) -> tuple[Tensor, float]:
        """Predict a record, then learn from it; return (prediction, loss)."""
        result = self._stream.learn(x, y)
        self.records += 1
        return result

    def predict(self, x: Any) -> Tensor:
        """Predict without learning; states and traces advance."""
        return self._stream.predict(x)

    def reset(self) -> None:
        """Start a new sequence: reset states and traces, keep the weights."""
        self._stream.reset()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write weights, states, traces and optimizer to a file that `braintrace stream --load` can read."""
        self._stream.save(os.fspath(path), self.records)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Resume from a file. Model, rule, loss and optimizer must be the same."""
        self.records = self._stream.load(os.fspath(path))

    def __repr__(self) -> str:
        return f"<OnlineStream after {self.records} records>"


class Fleet:
    """Many learners that share model, rule and optimizer; each member has its own weights, states and traces.

    A member computes exactly what a single learner would. A new id joins with the weights that the model had when the fleet was
    created.

    Args:
        model: the model.
        example: example input of one record.
        rule: name of the learning rule.
        lr: learning rate.
        optimizer: a name, or a dict such as `{'type': 'sgd', 'momentum': 0.9}`.
        loss: 'mse' or 'cross_entropy'.
        options: options of the rule.
        most: largest number of members.
        guard: undo steps after which a member is not finite. This copies each member in each step.

    >>> import pybraintrace as bt
    >>> model = bt.nn.Sequential(bt.nn.GRUCell(3, 8), bt.nn.Linear(8, 2))
    >>> fleet = bt.Fleet(model, bt.numpy.zeros(3), rule='D_RTRL', lr=1e-2)
    >>> answers = fleet.learn(['pump 1', 'pump 7'], bt.numpy.ones((2, 3)), bt.numpy.zeros((2, 2)))
    >>> answers.predictions.shape, len(fleet), fleet.records('pump 7')
    ((2, 2), 2, 1)
    """

    def __init__(self, model: Any, example: Any, *, rule: str = "D_RTRL", lr: float = 1e-3, optimizer: str | dict[str, Any] = "adam",
                 loss: str = "mse", options: dict[str, Any] | None = None, most: int = 1_000_000, guard: bool = False) -> None:
        self._fleet = _core.Fleet(model, example, *_settings(rule, lr, optimizer, loss, options), most, guard)

    def learn(self, ids: Iterable[Any] | None, x: Any, y: Any) -> Answers:
        """Run one step of some members: predict, then learn.

        Args:
            ids: the members; an unknown id joins. None means all, in the order of `ids`.
            x: inputs, one row per member. With a second axis, each member learns from several records in sequence, which gives the
                same result as one call per record and is much faster in a large fleet.
            y: targets, one row per member.
        """
        return Answers(*self._fleet.learn(_names(ids), x, y))

    def predict(self, ids: Iterable[Any] | None, x: Any) -> Answers:
        """Predict without learning; states and traces advance. Arguments are those of `learn`."""
        predictions, undone = self._fleet.predict(_names(ids), x)
        return Answers(predictions, None, undone)

    def reset(self, id: Any) -> None:
        """Start a new sequence of a member: reset its states and traces, keep its weights."""
        self._fleet.reset(str(id))

    def add(self, id: Any) -> None:
        """Add a member with the initial weights."""
        self._fleet.add(str(id))

    def remove(self, id: Any) -> None:
        """Remove a member; the last of `ids` takes its place."""
        self._fleet.remove(str(id))

    def records(self, id: Any) -> int:
        """Return the number of records a member has learned from."""
        return self._fleet.records(str(id))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all members to one file."""
        self._fleet.save(os.fspath(path))

    def load(self, path: str | os.PathLike[str]) -> None:
        """Replace all members by those of a file."""
        self._fleet.load(os.fspath(path))

    def save_member(self, id: Any, path: str | os.PathLike[str]) -> None:
        """Write a member to a file that `braintrace stream --load` can read."""
        self._fleet.save_member(str(id), os.fspath(path))

    def load_member(self, id: Any, path: str | os.PathLike[str]) -> None:
        """Add or replace a member from the file of a single stream."""
        self._fleet.load_member(str(id), os.fspath(path))

    @property
    def ids(self) -> list[str]:
        """Ids of the members, in order."""
        return self._fleet.ids

    @property
    def bytes_per_member(self) -> int:
        """Memory of one member in bytes."""
        return self._fleet.bytes_per_member

    def __len__(self) -> int:
        return len(self._fleet)

    def __contains__(self, id: Any) -> bool:
        return str(id) in self._fleet

    def __repr__(self) -> str:
        return f"Fleet of {len(self)} members"


def _names(ids: Iterable[Any] | None) -> list[str] | None:
    return None if ids is None else [str(i) for i in ids]
