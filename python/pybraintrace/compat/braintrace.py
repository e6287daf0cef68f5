# SPDX-License-Identifier: Apache-2.0
"""`braintrace`: the whole of this package, and the names of its classes there."""

from __future__ import annotations

import enum
from typing import Any

from .. import *  # noqa: F403
from .. import D_RTRL, ES_D_RTRL, UORO, OnlineLearner, __version__, _core, nn

ETraceAlgorithm = ETraceVjpAlgorithm = OnlineLearner
ParamDimVjpAlgorithm, IODimVjpAlgorithm, RandomProjectionVjpAlgorithm = D_RTRL, ES_D_RTRL, UORO
KappaFilter = nn.KappaFilter
DiagnosticKind = enum.Enum("DiagnosticKind", {kind.upper(): kind for kind in _core.diagnostic_kinds})  # type: ignore[misc]
DiagnosticLevel = enum.Enum("DiagnosticLevel", {level.upper(): level for level in ("info", "warning", "error")})  # type: ignore[misc]
__version_info__ = tuple(int(part) for part in __version__.split("."))

_INSTEAD = {
    "ControlFlowPolicy": "nothing: loops and branches of a step are compiled as they are", "ETPPrimitive": "register_op", "register_primitive": "register_op",
    "ETraceVmap": "compile(model, rule, x, batch_size=…, vmap=True)", "EligibilityTrace": "learner.get_etrace_of(path)", "FixedRandomFeedback": "EProp(model, feedback=seed)",
    "GradExpon": "ES_D_RTRL(model, decay_or_rank=…)", "SequenceDriverMixin": "OnlineLearner, which has etrace_grad and etrace_evolve",
    "SyntheticGradient": "DNI(model).attach_synthesizer()", "train_synthetic_gradient": "DNI(model).attach_synthesizer()",
}


def __getattr__(name: str) -> Any:
    if name in _INSTEAD:
        raise AttributeError(f"braintrace.{name} has no counterpart of this name in pybraintrace; use {_INSTEAD[name]}")
    raise AttributeError(f"module 'braintrace' of pybraintrace.compat has no attribute '{name}'")
