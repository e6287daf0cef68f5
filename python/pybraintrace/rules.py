# SPDX-License-Identifier: Apache-2.0
"""Learning rules of your own: points in the space of rules under a name, and rules with equations of their own."""

from __future__ import annotations

import inspect
from typing import Any

from . import _core
from ._core import ETraceConfig, TraceSite

__all__ = ["LearningRule", "TraceSite", "register_rule"]


class LearningRule:
    """A learning rule with equations of your own. A subclass says how a trace advances, and which gradient it gives.

    For each weight and each hidden group it reaches (`site`, a TraceSite) the methods compute with tensors. They run while a program is
    traced; batches, `jit` and storage follow, and a window gives the sum of its steps. D-RTRL, whose trace is ε_t = D ε_{t-1} + D_f ⊗ ∂y/∂w:

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
    """Whether D keeps the products of the recurrence (the true diagonal blocks); None: as the model is compiled."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in vars(cls):
            cls.name = cls.__name__

    def memory(self, site: TraceSite) -> dict[str, Any]:
        """What is remembered: {name: shape}; all of it starts at zero. With one entry the other methods take and give that tensor, with
        several a dict."""
        return {"trace": site.shape}

    def advance(self, site: TraceSite, memory: Any) -> Any:
        """The memory after the step."""
        raise NotImplementedError(f"{type(self).__name__}: a learning rule needs the method advance(self, site, memory)")

    def gradient(self, site: TraceSite, before: Any, after: Any) -> Any:
        """What the rule adds to the same-step gradient of the weight, from the memory before and after the step; None adds nothing."""
        raise NotImplementedError(f"{type(self).__name__}: a learning rule needs the method gradient(self, site, before, after)")

    def recall(self, site: TraceSite, memory: Any, credit: Any) -> Any:
        """The gradient of the weight where a later loss reads the states as they are now (windows of `vjp_method='multi-step'`)."""
        return site.contract(credit, memory["trace"] if isinstance(memory, dict) else memory)


def register_rule(name: str, rule: ETraceConfig | LearningRule) -> None:
    """Gives a rule a name, which then stands for it everywhere: in `compile`, `fidelity`, `advise`, a training configuration.

    The rule is a point in the space of rules, or one with equations of its own. The name stays for the life of the process; registering it
    again replaces the rule for learners made from then on. A built-in name is an error.

    >>> import pybraintrace as bt
    >>> bt.register_rule('coupled', bt.ETraceConfig(recurrence_scope='coupled'))
    >>> bt.compile(bt.nn.GRUCell(2, 3), 'coupled', bt.numpy.zeros(2)).is_compiled
    True
    """
    if not isinstance(rule, (ETraceConfig, LearningRule)):
        raise TypeError(f"register_rule: expected an ETraceConfig or a LearningRule, got {rule!r}")
    doc = rule.describe() if isinstance(rule, ETraceConfig) else (inspect.getdoc(type(rule)) or "").split("\n")[0]
    _core.register_rule(name, doc, rule)
