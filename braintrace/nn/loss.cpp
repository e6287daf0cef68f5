// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/loss.h"

#include <cmath>

#include "braintrace/ops/activation.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/softmax.h"

namespace braintrace::losses {

namespace {

void require_equal_shapes(const char* name, const Tensor& a, const Tensor& b) {
  require(a.shape() == b.shape(), ErrorKind::Shape, "{}: prediction {} and target {} must have the same shape.", name,
          to_string(a.type()), to_string(b.type()));
}
void require_float(const char* name, const Tensor& x) {
  require(is_float(x.dtype()), ErrorKind::DType, "{}: expected floating-point values, got {}.", name,
          to_string(x.type()));
}

// Integer labels, one per row; if their values are known, they must be in 0 … C-1.
void require_labels(const char* name, const Tensor& scores, const Tensor& labels) {
  require(is_integer(labels.dtype()), ErrorKind::DType, "{}: labels must be integers, got {}.", name,
          to_string(labels.type()));
  require(scores.rank() >= 1 && labels.shape() == Shape(scores.shape().begin(), scores.shape().end() - 1),
          ErrorKind::Shape, "{}: scores are {}, so labels must have the shape without the last axis; got {}.", name,
          to_string(scores.type()), to_string(labels.type()));
  if (labels.is_traced()) return;
  const Array a = labels.array();
  for (int64_t i = 0; i < a.size(); ++i)
    require(at(a, i) >= 0 && at(a, i) < static_cast<double>(scores.shape().back()),
            "{}: label {} at position {} is outside 0 … {}.", name, at(a, i), i, scores.shape().back() - 1);
}

// x[…, label]
Tensor picked(const Tensor& x, const Tensor& labels) {
  return sum(x * one_hot(labels, x.shape().back(), x.dtype()), -1);
}

Tensor reduced(const Tensor& x, Reduction r) {
  return r == Reduction::None ? x : r == Reduction::Mean ? mean(x) : sum(x);
}

Tensor total(const std::vector<Tensor>& terms) {
  require(!terms.empty(), "regularizer: at least one tensor is needed.");
  Tensor s;
  for (const Tensor& t : terms) s = s.defined() ? s + t : t;
  return s;
}

}  // namespace

Tensor softmax_cross_entropy_with_integer_labels(const Tensor& logits, const Tensor& labels) {
  require_float("softmax_cross_entropy_with_integer_labels", logits);
  require_labels("softmax_cross_entropy_with_integer_labels", logits, labels);
  return -picked(log_softmax(logits), labels);
}
Tensor softmax_cross_entropy(const Tensor& logits, const Tensor& probabilities) {
  require_equal_shapes("softmax_cross_entropy", logits, probabilities);
  return -sum(probabilities * log_softmax(logits), -1);
}
Tensor sigmoid_binary_cross_entropy(const Tensor& logits, const Tensor& labels) {
  require_equal_shapes("sigmoid_binary_cross_entropy", logits, labels);
  return softplus(logits) - logits * labels;
}
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& labels) {
  require_labels("nll_loss", log_probabilities, labels);
  return -picked(log_probabilities, labels);
}
Tensor kl_divergence(const Tensor& log_predictions, const Tensor& targets) {
  require_equal_shapes("kl_divergence", log_predictions, targets);
  const Tensor positive = greater(targets, 0);
  const Tensor safe     = select(positive, targets, full(targets.shape(), 1, targets.dtype()));
  return sum(select(positive, targets * (log(safe) - log_predictions), zeros_like(targets)), -1);
}
Tensor hinge_loss(const Tensor& predictor, const Tensor& target) {
  require_equal_shapes("hinge_loss", predictor, target);
  return relu(1 - predictor * target);
}

Tensor squared_error(const Tensor& prediction, const Tensor& target, Reduction reduction) {
  require_equal_shapes("squared_error", prediction, target);
  return reduced(square(prediction - target), reduction);
}
Tensor mse(const Tensor& prediction, const Tensor& target) {
  return squared_error(prediction, target, Reduction::Mean);
}
Tensor l2_loss(const Tensor& prediction, const Tensor& target) { return 0.5 * squared_error(prediction, target); }
Tensor absolute_error(const Tensor& prediction, const Tensor& target, Reduction reduction) {
  require_equal_shapes("absolute_error", prediction, target);
  return reduced(abs(prediction - target), reduction);
}
Tensor mae(const Tensor& prediction, const Tensor& target) { return absolute_error(prediction, target); }

// With q = min(|e|, δ) both branches are ½ q² + δ (|e| - q).
Tensor huber_loss(const Tensor& prediction, const Tensor& target, double delta) {
  require_equal_shapes("huber_loss", prediction, target);
  require(delta > 0, "huber_loss: delta must be positive, got {}.", delta);
  const Tensor e = abs(prediction - target), q = minimum(e, delta);
  return 0.5 * square(q) + delta * (e - q);
}

// log cosh e = |e| + log(1 + e^{-2|e|}) - log 2, which does not overflow.
Tensor log_cosh(const Tensor& prediction, const Tensor& target) {
  require_equal_shapes("log_cosh", prediction, target);
  const Tensor e = prediction - target;
  return e + softplus(-2 * e) - std::log(2.0);
}

Tensor cosine_similarity(const Tensor& prediction, const Tensor& target, double eps) {
  require_equal_shapes("cosine_similarity", prediction, target);
  const auto norm = [&](const Tensor& x) { return sqrt(maximum(sum(square(x), -1), eps * eps)); };
  return sum(prediction * target, -1) / (norm(prediction) * norm(target));
}

Tensor masked_mean(const Tensor& values, const Tensor& mask) {
  const Tensor m = broadcast_to(convert(mask, values.dtype()), values.shape());
  return sum(values * m) / maximum(sum(m), 1);
}

Tensor l1(const std::vector<Tensor>& weights) {
  std::vector<Tensor> terms;
  for (const Tensor& w : weights) terms.push_back(sum(abs(w)));
  return total(terms);
}
Tensor l2(const std::vector<Tensor>& weights) {
  std::vector<Tensor> terms;
  for (const Tensor& w : weights) terms.push_back(sum(square(w)));
  return total(terms);
}
Tensor voltage_regularizer(const std::vector<Tensor>& V, double lo, double hi, double factor) {
  std::vector<Tensor> terms;
  for (const Tensor& v : V) terms.push_back(square(mean(square(relu(v - hi)) + square(relu(lo - v)))));
  return factor * total(terms);
}
Tensor rate_regularizer(const std::vector<Tensor>& spikes, double rate_hz, double dt_ms, double factor) {
  std::vector<Tensor> terms;
  for (const Tensor& z : spikes) terms.push_back(square(mean(z) - rate_hz / 1000 * dt_ms));
  return factor * total(terms);
}

}  // namespace braintrace::losses

namespace braintrace::metrics {

Tensor accuracy(const Tensor& scores, const Tensor& labels) {
  losses::require_labels("accuracy", scores, labels);
  return mean(convert(equal(argmax(scores, -1), convert(labels, DType::I32)), DType::F32));
}
Tensor accuracy_over_time(const Tensor& scores, const Tensor& labels) { return accuracy(mean(scores, 0), labels); }

Tensor confusion_matrix(const Tensor& scores, const Tensor& labels, int64_t classes) {
  losses::require_labels("confusion_matrix", scores, labels);
  const Tensor truth = reshape(one_hot(labels, classes, DType::F32), {-1, classes});
  const Tensor guess = reshape(one_hot(argmax(scores, -1), classes, DType::F32), {-1, classes});
  return dot(transpose(truth), guess);
}
Tensor r2_score(const Tensor& prediction, const Tensor& target) {
  return 1 - sum(square(target - prediction)) / sum(square(target - mean(target)));
}

}  // namespace braintrace::metrics
