# SPDX-License-Identifier: Apache-2.0
"""Optimizers and learning-rate schedules. Their memory is kept in states, so updates can be part of a jitted function."""

from . import _pickle
from ._core.optim import (SGD, Accumulator, Adadelta, Adagrad, Adam, AdamW, CosineAnnealingLR, CosineAnnealingWarmRestarts, CyclicLR,
                          ExponentialDecayLR, ExponentialLR, LinearLR, Lion, Momentum, MomentumNesterov, MultiStepLR, OneCycleLR,
                          Optimizer, PiecewiseConstantLR, PolynomialLR, ReduceLROnPlateau, RMSProp, Schedule, SequentialLR, StepLR, WarmupCosineLR, WarmupLR,
                          clip_grad_norm, clip_grad_value)

__all__ = ["SGD", "Accumulator", "Adadelta", "Adagrad", "Adam", "AdamW", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR",
           "ExponentialDecayLR", "ExponentialLR", "LinearLR", "Lion", "Momentum", "MomentumNesterov", "MultiStepLR", "OneCycleLR",
           "Optimizer", "PiecewiseConstantLR", "PolynomialLR", "ReduceLROnPlateau", "RMSProp", "Schedule", "SequentialLR", "StepLR", "WarmupCosineLR", "WarmupLR",
           "clip_grad_norm", "clip_grad_value"]

# Replace the names by versions whose results can be pickled and copied.
for _name in __all__:
    _value = globals()[_name]
    if isinstance(_value, type) and issubclass(_value, Optimizer) and _value is not Optimizer:
        globals()[_name] = _pickle.optimizer(_value, __name__)
    elif _name == "ReduceLROnPlateau":
        globals()[_name] = _pickle.plateau(_value, __name__)
    elif _name.endswith(("LR", "Restarts")):
        globals()[_name] = _pickle.noting(_value, __name__)
