# SPDX-License-Identifier: Apache-2.0
"""Custom learning rules: named points in the space of rules, and rules with their own equations."""

from __future__ import annotations

import inspect
from typing import Any

from . import _core
from ._core import ETraceConfig, TraceSite

__all__ = ["LearningRule", "TraceSite", "register_rule"]


class LearningRule:
    """Base class of learning rules with custom equations.

    A subclass defines how a trace advances (`advance`), and the gradient that it gives (`gradient`). The methods are called for each
    weight and each hidden group that it drives (`site`, a TraceSite), while a program is traced; batching, `jit` and checkpoints follow
    from them, and a window sums the gradients of its steps. D-RTRL, whose trace is ε_t = D ε_{t-1} + D_f ⊗ ∂y/∂w:

    >>> import numpy as np, pybraintrace as bt
    >>> class MyDRTRL(bt.LearningRule):
    ...     def advance(self, site, trace):
    ...         return site.propagate(trace) + site.instant
    ...     def gradient(self, site, before, after):
    ...         return site.contract(site.credit_before, before)
    >>> model = bt.nn.LSTMCell(2, 3)
    >>> own, known = (bt.compile(model, rule, np.zeros(2, 'f')) for rule in (MyDRTRL(), 'D_RTRL'))
    >>> def gradients(learner):
    ...     bt.nn.reset_all_states(model)
    ...     return learner.etrace_grad(np.ones((4, 2), 'f'), step_fn=lambda x: (learner(x) ** 2).sum())[0]
    >>> all(np.allclose(a, b) for a, b in zip(bt.tree.leaves(gradients(own)), bt.tree.leaves(gradients(known))))
    True
    """

    name: str
    coupled: bool | None = None
    """Whether D includes the products of the recurrence (the true diagonal blocks); None: as the model is compiled."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in vars(cls):
            cls.name = cls.__name__

    def memory(self, site: TraceSite) -> dict[str, Any]:
        """Return the memory of a site as {name: shape}, initially zero; default: one trace.

        With one entry, the other methods take and return that tensor; with several, a dict.
        """
        return {"trace": site.shape}

    def advance(self, site: TraceSite, memory: Any) -> Any:
        """Return the memory after the step."""
        raise NotImplementedError(f"{type(self).__name__}: a learning rule must define advance(self, site, memory)")

    def gradient(self, site: TraceSite, before: Any, after: Any) -> Any:
        """Return what the rule adds to the weight's gradient of the current step.

        Args:
            site: the weight and the hidden group.
            before: memory before the step.
            after: memory after the step.

        Returns:
            A tensor of the shape of the weight, or None for nothing.
        """
        raise NotImplementedError(f"{type(self).__name__}: a learning rule must define gradient(self, site, before, after)")

    def recall(self, site: TraceSite, memory: Any, credit: Any) -> Any:
        """Return the gradient of the weight from a credit of the current states, for windows of `vjp_method='multi-step'`."""
        return site.contract(credit, memory["trace"] if isinstance(memory, dict) else memory)


def register_rule(name: str, rule: ETraceConfig | LearningRule) -> None:
    """Register a learning rule under a name, for `compile`, `fidelity`, `advise` and training configurations.

    Registering a name again replaces the rule for learners created from then on.

    Args:
        name: the name; built-in names are errors.
        rule: a point in the space of rules, or a rule with its own equations.

    >>> import pybraintrace as bt
    >>> bt.register_rule('coupled', bt.ETraceConfig(recurrence_scope='coupled'))
    >>> bt.compile(bt.nn.GRUCell(2, 3), 'coupled', bt.numpy.zeros(2)).is_compiled
    True
    """
    if not isinstance(rule, (ETraceConfig, LearningRule)):
        raise TypeError(f"register_rule: expected an ETraceConfig or a LearningRule, got {rule!r}")
    doc = rule.describe() if isinstance(rule, ETraceConfig) else (inspect.getdoc(type(rule)) or "").split("\n")[0]
    _core.register_rule(name, doc, rule)
