"""Losses, regularizers and metrics."""

import pybraintrace._core
import pybraintrace.typing


def softmax_cross_entropy_with_integer_labels(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """log sum e^z - z_y per row; labels are integers."""

def softmax_cross_entropy(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """-sum p log softmax(z) per row."""

def sigmoid_binary_cross_entropy(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Element by element, y in [0, 1]."""

def nll_loss(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """-log p_y per row of log-probabilities."""

def kl_divergence(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """sum y (log y - log p) per row, log p given."""

def hinge_loss(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """max(0, 1 - prediction y), y = +-1."""

def mse(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Mean of squared errors."""

def l2_loss(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Half the squared error."""

def mae(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Mean of absolute errors."""

def log_cosh(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """log cosh of the error."""

def masked_mean(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Values where a mask is one, averaged over those."""

def accuracy(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """Fraction of rows whose largest entry is the label."""

def accuracy_over_time(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """The same for scores [T, ..., C], averaged over time first."""

def r2_score(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None) -> pybraintrace._core.Tensor:
    """1 - sum (y - prediction)^2 / sum (y - mean y)^2."""

def squared_error(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None, reduction: str = 'none') -> pybraintrace._core.Tensor:
    """Squared error, element by element."""

def absolute_error(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None, reduction: str = 'mean') -> pybraintrace._core.Tensor:
    """Absolute error."""

def huber_loss(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None, delta: float = 1.0) -> pybraintrace._core.Tensor:
    """Quadratic near zero, then linear."""

def cosine_similarity(predictions: pybraintrace.typing.ArrayLike | None, targets: pybraintrace.typing.ArrayLike | None, epsilon: float = 1e-08) -> pybraintrace._core.Tensor:
    """Per row."""

def confusion_matrix(scores: pybraintrace.typing.ArrayLike | None, labels: pybraintrace.typing.ArrayLike | None, num_classes: int) -> pybraintrace._core.Tensor:
    """Counts: row = label, column = answer."""

def l1(weights: object) -> pybraintrace._core.Tensor:
    """Sum of absolute values."""

def l2(weights: object) -> pybraintrace._core.Tensor:
    """Sum of squares."""

def voltage_regularizer(V: object, lo: float, hi: float, factor: float = 1.0) -> pybraintrace._core.Tensor:
    """Punishes potentials outside [lo, hi]."""

def rate_regularizer(spikes: object, rate_hz: float, dt_ms: float, factor: float = 1.0) -> pybraintrace._core.Tensor:
    """Punishes rates away from a target."""
