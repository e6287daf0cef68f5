# SPDX-License-Identifier: Apache-2.0
"""Optimizers and learning rates over time. Everything they remember lies in states, so updates may be jitted."""

from ._core.optim import (SGD, Adadelta, Adagrad, Adam, AdamW, CosineAnnealingLR, CosineAnnealingWarmRestarts, CyclicLR,
                          ExponentialDecayLR, ExponentialLR, LinearLR, Lion, Momentum, MomentumNesterov, MultiStepLR, OneCycleLR,
                          Optimizer, PiecewiseConstantLR, PolynomialLR, RMSProp, Schedule, StepLR, WarmupCosineLR, WarmupLR,
                          clip_grad_norm, clip_grad_value)

__all__ = ["SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR",
           "ExponentialDecayLR", "ExponentialLR", "LinearLR", "Lion", "Momentum", "MomentumNesterov", "MultiStepLR", "OneCycleLR",
           "Optimizer", "PiecewiseConstantLR", "PolynomialLR", "RMSProp", "Schedule", "StepLR", "WarmupCosineLR", "WarmupLR",
           "clip_grad_norm", "clip_grad_value"]
