# SPDX-License-Identifier: Apache-2.0
"""Models that keep learning from records as they come: one stream, or many, one per sensor, patient or robot, through one compiled program."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from . import _core
from ._core import Tensor


class Answers(NamedTuple):
    """What a step of a fleet gives, one row for each member."""

    predictions: Tensor
    losses: Tensor | None
    undone: list[tuple[int | tuple[int, int], str]]  # (place in the losses, why) of steps that a guarded fleet took back


def _settings(rule: str, lr: float, optimizer: str | dict[str, Any], loss: str, options: dict[str, Any] | None) -> tuple[Any, ...]:
    import json

    chosen = optimizer if isinstance(optimizer, str) else json.dumps(optimizer)
    return rule, json.dumps(options or {}), loss, chosen, lr


class OnlineStream:
    """A model that keeps learning: each record is answered with the weights as they are, and then learned from.

    Model, traces, gradient and update are one compiled program. `example` is one record's input; `optimizer` is a name, or a
    dict such as `{'type': 'sgd', 'momentum': 0.9}`; `options` are those of the rule.

    >>> import pybraintrace as bt
    >>> stream = bt.OnlineStream(bt.nn.Sequential(bt.nn.GRUCell(3, 8), bt.nn.Linear(8, 2)), bt.numpy.zeros(3), lr=1e-2)
    >>> prediction, loss = stream.learn(bt.numpy.ones(3), bt.numpy.zeros(2))
    >>> prediction.shape, stream.records
    ((2,), 1)
    """

    def __init__(self, model: Any, example: Any, *, rule: str = "D_RTRL", lr: float = 1e-3, optimizer: str | dict[str, Any] = "adam",
                 loss: str = "mse", options: dict[str, Any] | None = None) -> None:
        self._stream = _core.OnlineStream(model, example, *_settings(rule, lr, optimizer, loss, options))
        self.records = 0  # learned from

    def learn(self, x: Any, y: Any) -> tuple[Tensor, float]:
        """(prediction, loss) of a record, which is then learned from."""
        answer = self._stream.learn(x, y)
        self.records += 1
        return answer

    def predict(self, x: Any) -> Tensor:
        """The answer alone: states and traces advance, weights stay."""
        return self._stream.predict(x)

    def reset(self) -> None:
        """A new sequence: states and traces start again, weights stay."""
        self._stream.reset()

    def save(self, path: str | os.PathLike[str]) -> None:
        """All that is learned and remembered, as the file that `braintrace stream --load` reads."""
        self._stream.save(os.fspath(path), self.records)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Goes on where a file of the same model, rule, loss and optimizer ended."""
        self.records = self._stream.load(os.fspath(path))


class Fleet:
    """Learners with one model, rule and optimizer, each with its own weights, states and traces.

    A member computes bit by bit what a single learner would. One that is named for the first time joins with the weights that
    the model had when the fleet was made. `example` is one record's input. `optimizer` is a name, or a dict such as
    `{'type': 'sgd', 'momentum': 0.9}`; `options` are those of the rule. With `guard` a step that makes a member's numbers
    infinite is undone, which costs a copy of the member for each step; others never notice either way.

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
        """One step of each of these members: answer, then learn. Row i of `x` and `y` is for the i-th id; an unknown id joins.

        None stands for all members, in the order of `ids`. With a second axis of `x` and `y` each member learns from several
        records, one after the other: the same bits as one call for each, and much faster in a large fleet."""
        return Answers(*self._fleet.learn(_names(ids), x, y))

    def predict(self, ids: Iterable[Any] | None, x: Any) -> Answers:
        """The same without learning: states and traces advance, weights stay."""
        predictions, undone = self._fleet.predict(_names(ids), x)
        return Answers(predictions, None, undone)

    def reset(self, id: Any) -> None:
        """A new sequence of a member: states and traces start again, weights stay."""
        self._fleet.reset(str(id))

    def add(self, id: Any) -> None:
        """A member with the weights of the start."""
        self._fleet.add(str(id))

    def remove(self, id: Any) -> None:
        """Lets a member go; the last of `ids` takes its place."""
        self._fleet.remove(str(id))

    def records(self, id: Any) -> int:
        """How many records a member learned from."""
        return self._fleet.records(str(id))

    def save(self, path: str | os.PathLike[str]) -> None:
        """All members as one file."""
        self._fleet.save(os.fspath(path))

    def load(self, path: str | os.PathLike[str]) -> None:
        """The members of a file in place of the present ones."""
        self._fleet.load(os.fspath(path))

    def save_member(self, id: Any, path: str | os.PathLike[str]) -> None:
        """A member as the file of a single stream, which `braintrace stream --load` reads."""
        self._fleet.save_member(str(id), os.fspath(path))

    def load_member(self, id: Any, path: str | os.PathLike[str]) -> None:
        """A member from the file of a single stream; it joins, or is replaced."""
        self._fleet.load_member(str(id), os.fspath(path))

    @property
    def ids(self) -> list[str]:
        """The members in their order."""
        return self._fleet.ids

    @property
    def bytes_per_member(self) -> int:
        """Memory of a member."""
        return self._fleet.bytes_per_member

    def __len__(self) -> int:
        return len(self._fleet)

    def __contains__(self, id: Any) -> bool:
        return str(id) in self._fleet

    def __repr__(self) -> str:
        return f"Fleet of {len(self)} members"


def _names(ids: Iterable[Any] | None) -> list[str] | None:
    return None if ids is None else [str(i) for i in ids]
