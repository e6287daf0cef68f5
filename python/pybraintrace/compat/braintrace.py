# SPDX-License-Identifier: Apache-2.0
"""`braintrace`: all names of this package, and those of the JAX package."""

from __future__ import annotations

import enum
from typing import Any

from .. import *  # noqa: F403
from .. import OnlineLearner, __version__, _core, algorithms, nn
from ._lanes import Vmap


def _rule(base: type[OnlineLearner]) -> type[OnlineLearner]:
    """Return a rule that also accepts the implementation options of the JAX package, which have no effect here."""

    def __init__(self: OnlineLearner, model: Any, *args: Any, fast_solve: bool = True, chunked_trace: bool = True, **options: Any) -> None:
        base.__init__(self, model, *args, **options)

    def etrace_grad(self: OnlineLearner, *sequences: Any, chunk_size: int | None = None, **options: Any) -> Any:
        """Like `pybraintrace`, but without `chunk_size` a multi-step learner runs step by step."""
        return base.etrace_grad(self, *sequences, chunk_size=1 if chunk_size is None and self.vjp_method == "multi-step" else chunk_size, **options)

    def states(self: OnlineLearner, *kinds: Any) -> Any:
        """Return the states of the model by path, of some kinds, with a tag, or all."""
        return self.model.states(*kinds)

    methods = {"__init__": __init__, "etrace_grad": etrace_grad, "states": states}
    return type(base.__name__, (base,), {**methods, "__doc__": base.__doc__, "__module__": __name__})


_rules = {name: rule for name, rule in vars(algorithms).items() if isinstance(rule, type) and issubclass(rule, OnlineLearner) and rule is not OnlineLearner}
_made = {rule: _rule(rule) for rule in set(_rules.values())}
globals().update({name: _made[rule] for name, rule in _rules.items()})


def compile(model: Any, algorithm: Any = "D_RTRL", *example_inputs: Any, fast_solve: bool = True, chunked_trace: bool = True, vmap: bool = False, **options: Any) -> Any:
    """Like `pybraintrace.compile`; `fast_solve` and `chunked_trace` have no effect. With `vmap`, `module` of the result is the learner."""
    rule = _made[_rules[algorithm]] if isinstance(algorithm, str) and algorithm in _rules else algorithm
    learner = algorithms.compile(model, rule, *example_inputs, vmap=vmap, **options)
    return Vmap(learner) if vmap else learner


ETraceAlgorithm = ETraceVjpAlgorithm = OnlineLearner
ParamDimVjpAlgorithm, IODimVjpAlgorithm, RandomProjectionVjpAlgorithm = (globals()[name] for name in ("D_RTRL", "ES_D_RTRL", "UORO"))
KappaFilter = nn.KappaFilter
DiagnosticKind = enum.Enum("DiagnosticKind", {kind.upper(): kind for kind in _core.diagnostic_kinds})  # type: ignore[misc]
DiagnosticLevel = enum.Enum("DiagnosticLevel", {level.upper(): level for level in ("info", "warning", "error")})  # type: ignore[misc]
__version_info__ = tuple(int(part) for part in __version__.split("."))

_INSTEAD = {
    "ControlFlowPolicy": "nothing: loops and branches of a step are always compiled", "ETPPrimitive": "register_op", "register_primitive": "register_op",
    "ETraceVmap": "compile(model, rule, x, batch_size=…, vmap=True)", "EligibilityTrace": "learner.get_etrace_of(path)", "FixedRandomFeedback": "EProp(model, feedback=seed)",
    "GradExpon": "ES_D_RTRL(model, decay_or_rank=…)", "SequenceDriverMixin": "OnlineLearner, which has etrace_grad and etrace_evolve",
    "SyntheticGradient": "DNI(model).attach_synthesizer()", "train_synthetic_gradient": "DNI(model).attach_synthesizer()",
}


def __getattr__(name: str) -> Any:
    if name in _INSTEAD:
        raise AttributeError(f"braintrace.{name} does not exist in pybraintrace; use {_INSTEAD[name]}")
    raise AttributeError(f"module 'braintrace' of pybraintrace.compat has no attribute '{name}'")
