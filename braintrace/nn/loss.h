// SPDX-License-Identifier: Apache-2.0
// Losses, regularizers and metrics: plain functions of tensors. z are logits, ŷ predictions, y targets.
#pragma once

#include <vector>

#include "braintrace/ir/tensor.h"

namespace braintrace::losses {

enum class Reduction : uint8_t { None, Mean, Sum };

// log Σ e^z - z_y   per row of the last axis; labels are integers in 0 … C-1.
Tensor softmax_cross_entropy_with_integer_labels(const Tensor& logits, const Tensor& labels);
// -Σ p log softmax(z)   per row; p is a distribution over the last axis.
Tensor softmax_cross_entropy(const Tensor& logits, const Tensor& probabilities);
// max(z,0) - z y + log(1 + e^{-|z|})   element by element, y in [0,1]
Tensor sigmoid_binary_cross_entropy(const Tensor& logits, const Tensor& labels);
// -log p_y   per row of log-probabilities
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& labels);
// Σ y (log y - log p)   per row, log p given; 0 log 0 = 0
Tensor kl_divergence(const Tensor& log_predictions, const Tensor& targets);
// max(0, 1 - ŷ y)   y = ±1
Tensor hinge_loss(const Tensor& predictor, const Tensor& target);

// (ŷ - y)²
Tensor squared_error(const Tensor& prediction, const Tensor& target, Reduction reduction = Reduction::None);
Tensor mse(const Tensor& prediction, const Tensor& target);      // its mean
Tensor l2_loss(const Tensor& prediction, const Tensor& target);  // ½ (ŷ - y)²
// |ŷ - y|
Tensor absolute_error(const Tensor& prediction, const Tensor& target, Reduction reduction = Reduction::Mean);
Tensor mae(const Tensor& prediction, const Tensor& target);
// ½ e² for |e| ≤ δ, else δ (|e| - δ/2)
Tensor huber_loss(const Tensor& prediction, const Tensor& target, double delta = 1);
// log cosh(ŷ - y)
Tensor log_cosh(const Tensor& prediction, const Tensor& target);
// ŷ·y / (‖ŷ‖ ‖y‖)   per row; norms below eps count as eps
Tensor cosine_similarity(const Tensor& prediction, const Tensor& target, double eps = 1e-8);

// The mean of the values where mask is one: for losses at only some steps or samples.
Tensor masked_mean(const Tensor& values, const Tensor& mask);

// Σ |w| and Σ w² over all leaves.
Tensor l1(const std::vector<Tensor>& weights);
Tensor l2(const std::vector<Tensor>& weights);
// factor Σ_layers (mean(relu(V-hi)² + relu(lo-V)²))²
Tensor voltage_regularizer(const std::vector<Tensor>& V, double lo, double hi, double factor = 1);
// factor Σ_layers (mean spike - rate/1000 dt)²   rate in Hz, dt in ms
Tensor rate_regularizer(const std::vector<Tensor>& spikes, double rate_hz, double dt_ms, double factor = 1);

}  // namespace braintrace::losses

namespace braintrace::metrics {

// Fraction of rows whose largest entry is the label.
Tensor accuracy(const Tensor& scores, const Tensor& labels);
// The same for scores over time [T,…,C], averaged over the leading axis first.
Tensor accuracy_over_time(const Tensor& scores, const Tensor& labels);
// Counts [C,C]: row = label, column = prediction.
Tensor confusion_matrix(const Tensor& scores, const Tensor& labels, int64_t classes);
// 1 - Σ (y-ŷ)² / Σ (y-mean y)²
Tensor r2_score(const Tensor& prediction, const Tensor& target);

}  // namespace braintrace::metrics
