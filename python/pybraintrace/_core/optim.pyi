"""Optimizers and learning rates over time."""

from collections.abc import Sequence

from pybraintrace._pickle import (
    _reduce_made as __reduce__,
    _set_epoch as __setstate__
)


class Schedule:
    """A learning rate as a function of the epoch."""

    def __init__(self, rate: object) -> None: ...

    def __call__(self, epoch: int | None = None) -> float:
        """The rate at an epoch, or now."""

    def step_epoch(self) -> None:
        """To the next epoch."""

    @property
    def epoch(self) -> int:
        """The epoch now."""

    @epoch.setter
    def epoch(self, arg: int, /) -> None: ...

    def __repr__(self) -> str: ...

def StepLR(lr: float, step_size: int, gamma: float = 0.1) -> Schedule:
    """lr gamma^(e // step_size)"""

def MultiStepLR(lr: float, milestones: Sequence[int], gamma: float = 0.1) -> Schedule:
    """lr gamma^(milestones passed)"""

def ExponentialLR(lr: float, gamma: float) -> Schedule:
    """lr gamma^e"""

def ExponentialDecayLR(lr: float, decay_steps: int, decay_rate: float, transition_begin: int = 0, staircase: bool = False, end_value: float | None = None) -> Schedule:
    """lr rate^(e / steps)"""

def CosineAnnealingLR(lr: float, T_max: int, eta_min: float = 0.0) -> Schedule:
    """Half a cosine from lr to eta_min."""

def PolynomialLR(lr: float, total_iters: int, power: float = 1.0) -> Schedule:
    """lr (1 - e/n)^power"""

def LinearLR(lr: float, start_factor: float, end_factor: float, total_iters: int) -> Schedule:
    """A straight line."""

def WarmupLR(n: int, after: float | Schedule | None) -> Schedule:
    """From 0 to `after` over n epochs."""

def WarmupCosineLR(lr: float, warmup: int, total: int, eta_min: float = 0.0) -> Schedule:
    """A line up, half a cosine down."""

def CosineAnnealingWarmRestarts(lr: float, T_0: int, T_mult: int = 1, eta_min: float = 0.0) -> Schedule:
    """Cosines that start again."""

def OneCycleLR(max_lr: float, total: int, pct_start: float = 0.3, div_factor: float = 25.0, final_div_factor: float = 10000.0) -> Schedule:
    """Up and down once."""

def CyclicLR(base_lr: float, max_lr: float, step_size_up: int) -> Schedule:
    """Triangles."""

def SequentialLR(schedules: object, milestones: Sequence[int]) -> Schedule:
    """One schedule after another; each counts from its start."""

def PiecewiseConstantLR(boundaries: Sequence[int], values: Sequence[float]) -> Schedule:
    """Steps."""

class ReduceLROnPlateau:
    """
    A rate that is multiplied by `factor` when a value has not improved for a while.
    """

    def __init__(self, lr: float, factor: float = 0.1, patience: int = 10, threshold: float = 0.0001, min_lr: float = 0.0) -> None: ...

    def step(self, value: float) -> None:
        """Hears the watched value; smaller is better."""

    def __call__(self) -> float:
        """The rate now."""

    @property
    def schedule(self) -> Schedule:
        """For an optimizer."""

class Accumulator:
    """Sums gradients until some number of them have come."""

    def __init__(self, every: int) -> None: ...

    def add(self, grads: object) -> object:
        """Their mean when the last one has come, else None."""

class Optimizer:
    """Updates weights from gradients."""

    def register_trainable_weights(self, weights: object) -> None:
        """The weights it updates: states by path, or a model."""

    def update(self, grads: object) -> None:
        """One update, from gradients by path."""

    def step(self, grads: object) -> None:
        """One update, from gradients by path."""

    def step_epoch(self) -> None:
        """Moves the learning rate on."""

    def group(self, path: Sequence[str | int] | str | None, lr_factor: float = 1.0, weight_decay: float | None = None) -> None:
        """Other settings for the weights at or below a path."""

    @property
    def step_count(self) -> int:
        """Number of updates."""

    @property
    def current_lr(self) -> float:
        """The learning rate now."""

    @property
    def lr(self) -> Schedule:
        """The schedule of the learning rate."""

    def states(self) -> object:
        """Everything it remembers, for checkpoints."""

    def averaged(self) -> Averaged:
        """
        Inside `with optimizer.averaged():` the weights are their averages over about the last
        `average` updates. Judge the model there; learning goes on from the weights as they were.
        """

class Averaged:
    """The weights are their averages inside a `with`."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object | None = None, error: object | None = None, where: object | None = None) -> None: ...

class SGD(Optimizer):
    """Plain descent, or with momentum."""

    def __init__(self, lr: float | Schedule | None = 0.001, momentum: float = 0.0, nesterov: bool = False, *, grad_clip_norm: float | None = None, grad_clip_value: float | None = None, weight_decay: float = 0.0, average: int = 0) -> None: ...

class Momentum(SGD):
    """Descent with momentum."""

    def __init__(self, lr: float | Schedule | None = 0.001, momentum: float = 0.9, *, grad_clip_norm: float | None = None, grad_clip_value: float | None = None, weight_decay: float = 0.0, average: int = 0) -> None: ...

class MomentumNesterov(SGD):
    """Descent with Nesterov's momentum."""

    def __init__(self, lr: float | Schedule | None = 0.001, momentum: float = 0.9, *, grad_clip_norm: float | None = None, grad_clip_value: float | None = None, weight_decay: float = 0.0, average: int = 0) -> None: ...

class Adam(Optimizer):
    """Adam; AMSGrad on request."""

    def __init__(self, lr: float | Schedule | None = 0.001, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-08, amsgrad: bool = False, *, grad_clip_norm: float | None = None, grad_clip_value: float | None = None, weight_decay: float = 0.0, average: int = 0) -> None: ...

class AdamW(Adam):
    """Adam with decoupled weight decay."""

    def __init__(self, lr: float | Schedule | None = 0.001, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-08, amsgrad: bool = False, *, grad_clip_norm: float | None = None, grad_clip_value: float | None = None, weight_decay: float = 0.01, average: int = 0) -> None: ...

class RMSProp(Optimizer):
    """Divided by a running root mean square."""

    def __init__(self, lr: float | Schedule | None = 0.001, rho: float = 0.9, eps: float = 1e-08, *, grad_clip_norm: float | None = None, grad_clip_value: float | None = None, weight_decay: float = 0.0, average: int = 0) -> None: ...

class Adagrad(Optimizer):
    """Divided by the root of all squares so far."""

    def __init__(self, lr: float | Schedule | None = 0.01, eps: float = 1e-10, *, grad_clip_norm: float | None = None, grad_clip_value: float | None = None, weight_decay: float = 0.0, average: int = 0) -> None: ...

class Adadelta(Optimizer):
    """Steps scaled by their own running size."""

    def __init__(self, lr: float | Schedule | None = 1.0, rho: float = 0.9, eps: float = 1e-06, *, grad_clip_norm: float | None = None, grad_clip_value: float | None = None, weight_decay: float = 0.0, average: int = 0) -> None: ...

class Lion(Optimizer):
    """The sign of a momentum."""

    def __init__(self, lr: float | Schedule | None = 0.0001, beta1: float = 0.9, beta2: float = 0.99, *, grad_clip_norm: float | None = None, grad_clip_value: float | None = None, weight_decay: float = 0.0, average: int = 0) -> None: ...

def clip_grad_norm(grads: object, max_norm: float) -> object:
    """Scaled so that the norm over all leaves is at most c."""

def clip_grad_value(grads: object, clip_value: float) -> object:
    """Every element limited to [-c, c]."""
