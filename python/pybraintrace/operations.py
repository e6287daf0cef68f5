# SPDX-License-Identifier: Apache-2.0
"""Custom operations, whose weights can learn online."""

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
    """Register an operation defined by a function of its operands.

    Derivatives and batching follow from the function. The operation is trainable if `weights` names operands in which y is linear, and
    `coefficient`, `spread` and `fold` define their eligibility trace. The first argument of these functions is an OpCall, which names the
    weight and the shapes. Registering a name again replaces the operation for programs traced from then on.

    Args:
        name: name of the operation.
        meaning: the function; its parameters name the operands.
        weights: operands that learn online.
        x: the data operand, or None.
        mixes: whether y at one position depends on x at other positions.
        coefficient: (call, *operands) -> ∂y/∂w on the trace axes, one entry per pair of output position and weight entry.
        spread: (call, per_y) -> a value per output position, expanded to the trace axes; trailing axes are kept.
        fold: (call, on_trace, *operands) -> the sum over the trace axes, in the shape of the weight.
        x_ndim: number of axes of one sample of x; needed to be trainable under vmap.
        samples: shapes of all operands, for `check()`.

    Returns:
        The Operation.

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
            raise ValueError(f"register_op: {name} has no operand '{operand}'; its operands: {', '.join(operands)}")
        return operands.index(operand)

    rules = {"coefficient": coefficient, "spread": spread, "fold": fold}
    missing = [n for n, rule in rules.items() if rule is None]
    if weights and missing:
        raise TypeError(f"register_op: {name} has weights but lacks {', '.join(missing)}; give all three")
    if not weights and len(missing) < len(rules):
        raise TypeError(f"register_op: {name} has trace rules but no weights; name its trainable operands in `weights`")
    where = {w: position(w) for w in weights} if weights else None
    data = position(x) if weights and x is not None else -1
    return _core.register_op(name, inspect.getdoc(meaning) or "", " ".join(operands), meaning, where, data, mixes, coefficient, spread, fold, x_ndim, samples)
