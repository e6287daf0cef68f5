"""Losses, regularizers and metrics."""

import pybraintrace._core
import pybraintrace.typing


def softmax_cross_entropy_with_integer_labels(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """
    Softmax cross-entropy of logits [..., C] and integer labels [...], one value per row.
    """

def softmax_cross_entropy(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """
    Softmax cross-entropy of logits [..., C] and distributions [..., C], one value per row.
    """

def sigmoid_binary_cross_entropy(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """
    Binary cross-entropy of logits and targets in [0, 1], one value per element.
    """

def nll_loss(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """
    Negative log-likelihood of log-probabilities [..., C] and integer labels [...], one value per row.
    """

def kl_divergence(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """
    Kullback-Leibler divergence sum y (log y - log p) of log-probabilities and target distributions, one value per row.
    """

def hinge_loss(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """
    Hinge loss max(0, 1 - prediction y) with targets y of +1 or -1, one value per element.
    """

def mse(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Mean squared error."""

def l2_loss(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Half the squared error, one value per element."""

def mae(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Mean absolute error."""

def log_cosh(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Log-cosh of the error, one value per element."""

def masked_mean(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Mean of the values where a mask is one."""

def accuracy(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Fraction of rows whose largest score is at the label."""

def accuracy_over_time(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Accuracy of scores [T, ..., C] after averaging over time."""

def r2_score(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """
    Coefficient of determination R^2: 1 - sum (y - prediction)^2 / sum (y - mean y)^2.
    """

def squared_error(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None, reduction: str = 'none') -> pybraintrace._core.Tensor:
    """Squared error; `reduction` is 'none', 'mean' or 'sum'."""

def absolute_error(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None, reduction: str = 'mean') -> pybraintrace._core.Tensor:
    """Absolute error; `reduction` is 'none', 'mean' or 'sum'."""

def huber_loss(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None, delta: float = 1.0) -> pybraintrace._core.Tensor:
    """
    Huber loss: quadratic for errors up to `delta`, linear beyond; one value per element.
    """

def cosine_similarity(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None, epsilon: float = 1e-08) -> pybraintrace._core.Tensor:
    """
    Cosine similarity of the rows of the last axis; norms below `epsilon` count as `epsilon`.
    """

def confusion_matrix(scores: pybraintrace.typing.ArrayLike | None, labels: pybraintrace.typing.ArrayLike | None, num_classes: int) -> pybraintrace._core.Tensor:
    """
    Count predictions: entry [i, j] is the number of samples of class i predicted as j.
    """

def l1(weights: object) -> pybraintrace._core.Tensor:
    """Sum of absolute values over all leaves."""

def l2(weights: object) -> pybraintrace._core.Tensor:
    """Sum of squares over all leaves."""

def voltage_regularizer(V: object, lo: float, hi: float, factor: float = 1.0) -> pybraintrace._core.Tensor:
    """
    Penalty on membrane potentials outside [lo, hi].

    Args:
        V: potentials, one array per layer.
        lo: lower bound.
        hi: upper bound.
        factor: weight of the penalty.
    """

def rate_regularizer(spikes: object, rate_hz: float, dt_ms: float, factor: float = 1.0) -> pybraintrace._core.Tensor:
    """
    Penalty on the deviation of firing rates from a target.

    Args:
        spikes: spikes, one array per layer.
        rate_hz: target rate (Hz).
        dt_ms: time step (ms).
        factor: weight of the penalty.
    """
