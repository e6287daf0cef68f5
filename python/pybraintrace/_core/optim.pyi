"""Optimizers and learning-rate schedules."""

from typing import Any
from collections.abc import Sequence

from pybraintrace._pickle import (
    _reduce_made as __reduce__,
    _set_epoch as __setstate__,
    _text_of_schedule as __repr__
)


class Schedule:
    """
    A learning rate as a function of the epoch.

    Args:
        rate: a constant, or a function from the epoch to the rate.
    """

    def __init__(self, rate: object) -> None: ...

    def __call__(self, epoch: int | None = None) -> float:
        """Return the rate at an epoch, by default the current one."""

    def step_epoch(self) -> None:
        """Advance to the next epoch."""

    @property
    def epoch(self) -> int:
        """The current epoch."""

    @epoch.setter
    def epoch(self, arg: int, /) -> None: ...

def StepLR(lr: float, step_size: int, gamma: float = 0.1) -> Schedule:
    """Multiply the rate by gamma every `step_size` epochs."""

def MultiStepLR(lr: float, milestones: Sequence[int], gamma: float = 0.1) -> Schedule:
    """Multiply the rate by gamma at each milestone."""

def ExponentialLR(lr: float, gamma: float) -> Schedule:
    """Multiply the rate by gamma in every epoch."""

def ExponentialDecayLR(lr: float, decay_steps: int, decay_rate: float, transition_begin: int = 0, staircase: bool = False, end_value: float | None = None) -> Schedule:
    """
    Exponential decay lr decay_rate^(e / decay_steps).

    Args:
        lr: initial rate.
        decay_steps: epochs per factor of `decay_rate`.
        decay_rate: the factor.
        transition_begin: epoch where the decay starts.
        staircase: decay in steps.
        end_value: limit of the rate.
    """

def CosineAnnealingLR(lr: float, T_max: int, eta_min: float = 0.0) -> Schedule:
    """Cosine annealing from `lr` to `eta_min` over `T_max` epochs."""

def PolynomialLR(lr: float, total_iters: int, power: float = 1.0) -> Schedule:
    """Polynomial decay lr (1 - e/total_iters)^power."""

def LinearLR(lr: float, start_factor: float, end_factor: float, total_iters: int) -> Schedule:
    """
    Linear change from lr start_factor to lr end_factor over `total_iters` epochs.
    """

def WarmupLR(n: int, after: float | Schedule | None) -> Schedule:
    """Linear warmup from 0 over n epochs, then the schedule `after`."""

def WarmupCosineLR(lr: float, warmup: int, total: int, eta_min: float = 0.0) -> Schedule:
    """Linear warmup, then cosine annealing to `eta_min` at epoch `total`."""

def CosineAnnealingWarmRestarts(lr: float, T_0: int, T_mult: int = 1, eta_min: float = 0.0) -> Schedule:
    """
    Cosine annealing with restarts: the first period has `T_0` epochs, each next one `T_mult` times as many.
    """

def OneCycleLR(max_lr: float, total: int, pct_start: float = 0.3, div_factor: float = 25.0, final_div_factor: float = 10000.0) -> Schedule:
    """One-cycle schedule: from max_lr/div_factor up to `max_lr`, then down."""

def CyclicLR(base_lr: float, max_lr: float, step_size_up: int) -> Schedule:
    """Triangular cycles between `base_lr` and `max_lr`."""

def SequentialLR(schedules: object, milestones: Sequence[int]) -> Schedule:
    """
    Schedules in sequence; each starts at its milestone and counts epochs from there.
    """

def PiecewiseConstantLR(boundaries: Sequence[int], values: Sequence[float]) -> Schedule:
    """
    Piecewise constant rate: values[i] before boundaries[i], and the last value after them.
    """

class ReduceLROnPlateau:
    """
    Multiply the rate by `factor` when a value has not improved for `patience` calls of `step`.

    Args:
        lr: initial rate.
        factor: factor of each reduction.
        patience: calls without improvement before a reduction.
        threshold: smallest change that counts as an improvement.
        min_lr: lower limit of the rate.
    """

    def __init__(self, lr: float, factor: float = 0.1, patience: int = 10, threshold: float = 0.0001, min_lr: float = 0.0) -> None: ...

    def step(self, value: float) -> None:
        """Report the watched value; smaller is better."""

    def __call__(self) -> float:
        """Return the current rate."""

    @property
    def schedule(self) -> Schedule:
        """The rate as a Schedule, for an optimizer."""

class Accumulator:
    """Accumulate gradients over `every` calls."""

    def __init__(self, every: int) -> None: ...

    def add(self, grads: object) -> Any:
        """Add gradients; return their mean after every `every` calls, else None."""

class Optimizer:
    """Base class of optimizers."""

    def register_trainable_weights(self, weights: object) -> None:
        """Set the weights to update: states by path, or a model."""

    def update(self, grads: object) -> None:
        """
        Update the weights once.

        Args:
            grads: gradients by path, as `grad` returns them.
        """

    def step(self, grads: object) -> None:
        """Update the weights once; same as `update`."""

    def step_epoch(self) -> None:
        """Advance the learning-rate schedule by one epoch."""

    def group(self, path: Sequence[str | int] | str | None, lr_factor: float = 1.0, weight_decay: float | None = None) -> None:
        """
        Override settings for the weights at or below a path.

        Args:
            path: path of a weight or a submodule.
            lr_factor: factor of the learning rate.
            weight_decay: weight decay of the group; None keeps that of the optimizer.
        """

    @property
    def step_count(self) -> int:
        """Number of updates so far."""

    @property
    def current_lr(self) -> float:
        """The current learning rate."""

    @property
    def lr(self) -> Schedule:
        """The learning-rate schedule."""

    @property
    def param_states(self) -> Any:
        """The registered weights by path."""

    def states(self) -> Any:
        """Return the states of the optimizer, for checkpoints."""

    def averaged(self) -> Averaged:
        """
        Return a context manager in which the weights have their averages over about the last `average` updates.

        Evaluate the model inside `with optimizer.averaged():`; training continues with the original weights.
        """

class Averaged:
    """Context manager in which the weights have their averaged values."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object | None = None, error: object | None = None, where: object | None = None) -> None: ...

class SGD(Optimizer):
    """
    Stochastic gradient descent, optionally with momentum.

    Args:
        lr: learning rate, a number or a Schedule.
        momentum: momentum factor.
        nesterov: use Nesterov momentum.
        grad_clip_norm: clip gradients to this global norm.
        grad_clip_value: clip each element to [-c, c].
        weight_decay: L2 weight decay.
        average: number of updates that the averaged weights cover; 0 for no averages.
    """

    def __init__(self, lr: float | Schedule | None = 0.001, momentum: float = 0.0, nesterov: bool = False, *, grad_clip_norm: float | None = None, grad_clip_value: float | None = None, weight_decay: float = 0.0, average: int = 0) -> None: ...

class Momentum(SGD):
    """
    Gradient descent with momentum.

    Args:
        lr: learning rate, a number or a Schedule.
        momentum: momentum factor.
        grad_clip_norm: clip gradients to this global norm.
        grad_clip_value: clip each element to [-c, c].
        weight_decay: L2 weight decay.
        average: number of updates that the averaged weights cover; 0 for no averages.
    """

    def __init__(self, lr: float | Schedule | None = 0.001, momentum: float = 0.9, *, grad_clip_norm: float | None = None, grad_clip_value: float | None = None, weight_decay: float = 0.0, average: int = 0) -> None: ...

class MomentumNesterov(SGD):
    """
    Gradient descent with Nesterov momentum.

    Args:
        lr: learning rate, a number or a Schedule.
        momentum: momentum factor.
        grad_clip_norm: clip gradients to this global norm.
        grad_clip_value: clip each element to [-c, c].
        weight_decay: L2 weight decay.
        average: number of updates that the averaged weights cover; 0 for no averages.
    """

    def __init__(self, lr: float | Schedule | None = 0.001, momentum: float = 0.9, *, grad_clip_norm: float | None = None, grad_clip_value: float | None = None, weight_decay: float = 0.0, average: int = 0) -> None: ...

class Adam(Optimizer):
    """
    Adam (Kingma & Ba 2015).

    Args:
        lr: learning rate, a number or a Schedule.
        beta1: decay of the first moment.
        beta2: decay of the second moment.
        eps: added to the denominator.
        amsgrad: use the largest second moment so far.
        grad_clip_norm: clip gradients to this global norm.
        grad_clip_value: clip each element to [-c, c].
        weight_decay: L2 weight decay.
        average: number of updates that the averaged weights cover; 0 for no averages.
    """

    def __init__(self, lr: float | Schedule | None = 0.001, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-08, amsgrad: bool = False, *, grad_clip_norm: float | None = None, grad_clip_value: float | None = None, weight_decay: float = 0.0, average: int = 0) -> None: ...

class AdamW(Adam):
    """
    Adam with decoupled weight decay (Loshchilov & Hutter 2019).

    Args:
        lr: learning rate, a number or a Schedule.
        beta1: decay of the first moment.
        beta2: decay of the second moment.
        eps: added to the denominator.
        amsgrad: use the largest second moment so far.
        grad_clip_norm: clip gradients to this global norm.
        grad_clip_value: clip each element to [-c, c].
        weight_decay: decoupled weight decay.
        average: number of updates that the averaged weights cover; 0 for no averages.
    """

    def __init__(self, lr: float | Schedule | None = 0.001, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-08, amsgrad: bool = False, *, grad_clip_norm: float | None = None, grad_clip_value: float | None = None, weight_decay: float = 0.01, average: int = 0) -> None: ...

class RMSProp(Optimizer):
    """
    RMSProp (Hinton 2012).

    Args:
        lr: learning rate, a number or a Schedule.
        rho: decay of the mean square.
        eps: added to the denominator.
        grad_clip_norm: clip gradients to this global norm.
        grad_clip_value: clip each element to [-c, c].
        weight_decay: L2 weight decay.
        average: number of updates that the averaged weights cover; 0 for no averages.
    """

    def __init__(self, lr: float | Schedule | None = 0.001, rho: float = 0.9, eps: float = 1e-08, *, grad_clip_norm: float | None = None, grad_clip_value: float | None = None, weight_decay: float = 0.0, average: int = 0) -> None: ...

class Adagrad(Optimizer):
    """
    Adagrad (Duchi et al. 2011).

    Args:
        lr: learning rate, a number or a Schedule.
        eps: added to the denominator.
        grad_clip_norm: clip gradients to this global norm.
        grad_clip_value: clip each element to [-c, c].
        weight_decay: L2 weight decay.
        average: number of updates that the averaged weights cover; 0 for no averages.
    """

    def __init__(self, lr: float | Schedule | None = 0.01, eps: float = 1e-10, *, grad_clip_norm: float | None = None, grad_clip_value: float | None = None, weight_decay: float = 0.0, average: int = 0) -> None: ...

class Adadelta(Optimizer):
    """
    Adadelta (Zeiler 2012).

    Args:
        lr: learning rate, a number or a Schedule.
        rho: decay of the mean squares.
        eps: added to the mean squares.
        grad_clip_norm: clip gradients to this global norm.
        grad_clip_value: clip each element to [-c, c].
        weight_decay: L2 weight decay.
        average: number of updates that the averaged weights cover; 0 for no averages.
    """

    def __init__(self, lr: float | Schedule | None = 1.0, rho: float = 0.9, eps: float = 1e-06, *, grad_clip_norm: float | None = None, grad_clip_value: float | None = None, weight_decay: float = 0.0, average: int = 0) -> None: ...

class Lion(Optimizer):
    """
    Lion (Chen et al. 2023): the sign of an interpolated momentum.

    Args:
        lr: learning rate, a number or a Schedule.
        beta1: interpolation of momentum and gradient.
        beta2: decay of the momentum.
        grad_clip_norm: clip gradients to this global norm.
        grad_clip_value: clip each element to [-c, c].
        weight_decay: decoupled weight decay.
        average: number of updates that the averaged weights cover; 0 for no averages.
    """

    def __init__(self, lr: float | Schedule | None = 0.0001, beta1: float = 0.9, beta2: float = 0.99, *, grad_clip_norm: float | None = None, grad_clip_value: float | None = None, weight_decay: float = 0.0, average: int = 0) -> None: ...

def clip_grad_norm(grads: object, max_norm: float) -> Any:
    """Scale gradients so that their global norm is at most `max_norm`."""

def clip_grad_value(grads: object, clip_value: float) -> Any:
    """Limit every element of the gradients to [-clip_value, clip_value]."""
