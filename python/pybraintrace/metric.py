# SPDX-License-Identifier: Apache-2.0
"""Losses, regularizers and metrics: plain functions of tensors."""

from ._core.losses import (absolute_error, accuracy, accuracy_over_time, confusion_matrix, cosine_similarity, hinge_loss, huber_loss,
                           kl_divergence, l1, l2, l2_loss, log_cosh, mae, masked_mean, mse, nll_loss, r2_score, rate_regularizer,
                           sigmoid_binary_cross_entropy, softmax_cross_entropy, softmax_cross_entropy_with_integer_labels,
                           squared_error, voltage_regularizer)

__all__ = ["absolute_error", "accuracy", "accuracy_over_time", "confusion_matrix", "cosine_similarity", "hinge_loss", "huber_loss",
           "kl_divergence", "l1", "l2", "l2_loss", "log_cosh", "mae", "masked_mean", "mse", "nll_loss", "r2_score", "rate_regularizer",
           "sigmoid_binary_cross_entropy", "softmax_cross_entropy", "softmax_cross_entropy_with_integer_labels", "squared_error",
           "voltage_regularizer"]
