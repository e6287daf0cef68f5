# SPDX-License-Identifier: Apache-2.0
"""Operations of your own, whose weights learn online where you say how."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from . import _core

__all__ = ["OpCall", "Operation", "register_op"]

OpCall = _core.OpCall
Operation = _core.Operation


def register_op(name: str, meaning: Callable[..., Any], *, weights: Sequence[str] = (), x: str | None = "x", mixes: bool = True,
                coefficient: Callable[..., Any] | None = None, spread: Callable[..., Any] | None = None, fold: Callable[..., Any] | None = None,
                x_ndim: int | None = None, samples: Sequence[Sequence[Any]] = ()) -> Operation:
    """Makes an operation from a function of its operands, whose parameters name them; derivatives and batches follow from it.

    It is trainable where `weights` names operands and three functions say how an eligibility trace follows them, for y linear in each:

    - `coefficient(call, *operands)`: ∂y/∂w on the trace axes, one entry per pair of output position and weight entry
    - `spread(call, per_y)`: a value per output position, moved to the trace axes; trailing axes are kept
    - `fold(call, on_trace, *operands)`: the sum of the trace axes down to the shape of w

    `call` (OpCall) tells which weight is asked for and the shapes. `x` names the data operand (None: there is none); `mixes` says that y
    at one position reads x at others. With `x_ndim`, the number of axes of one sample of x, it stays trainable under vmap. `samples` are
    shapes of all operands, for `check()`, which measures these rules. The operation stays for the life of the process; registering the
    same name again, as when a cell of a notebook runs again, replaces it for programs traced from then on.

    >>> import pybraintrace as bt
    >>> scaled = bt.register_op('doc_scaled', lambda x, weight: 2 * (x @ weight), weights=['weight'],
    ...                         coefficient=lambda call, x, weight: 2 * x[..., None],
    ...                         spread=lambda call, per_y: bt.numpy.expand_dims(per_y, call.y_ndim - 1),
    ...                         fold=lambda call, on_trace, x, weight: on_trace.sum(0) if x.ndim == 2 else on_trace,
    ...                         x_ndim=1, samples=[((3,), (3, 2)), ((4, 3), (3, 2))])
    >>> scaled.check()
    >>> scaled(bt.numpy.ones(3), bt.numpy.ones((3, 2))).tolist()
    [6.0, 6.0]
    """
    operands = [p.name for p in inspect.signature(meaning).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]

    def position(operand: str) -> int:
        if operand not in operands:
            raise ValueError(f"register_op: {name} has no operand '{operand}'; the parameters of its function are {', '.join(operands)}")
        return operands.index(operand)

    rules = {"coefficient": coefficient, "spread": spread, "fold": fold}
    missing = [n for n, rule in rules.items() if rule is None]
    if weights and missing:
        raise TypeError(f"register_op: to be trainable {name} needs {', '.join(missing)}")
    if not weights and len(missing) < len(rules):
        raise TypeError(f"register_op: {name} has rules of a trace but no weights; name its trainable operands")
    where = {w: position(w) for w in weights} if weights else None
    data = position(x) if weights and x is not None else -1
    return _core.register_op(name, inspect.getdoc(meaning) or "", " ".join(operands), meaning, where, data, mixes, coefficient, spread, fold, x_ndim, samples)
