// SPDX-License-Identifier: Apache-2.0
// A learner that runs for a few steps.
#pragma once

#include <cmath>

#include "braintrace/algorithms/learner.h"
#include "braintrace/functions/functions.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {

// The input of step t: smooth in t, different in every element.
inline Tensor wave(const Type& type, int t) {
  std::vector<double> values(static_cast<size_t>(type.size()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(0.9 * t + 1.7 * static_cast<double>(i) + 0.3);
  return convert(Tensor(Array::of<double>(values, type.shape)), type.dtype);
}

// Σ_t ∇_t of the loss Σ y_t², one call per step, from states and traces as they are.
inline Gradients online_gradient(OnlineLearner& learner, const Type& input, int steps) {
  auto      step  = grad([&](Tensor x) { return sum(square(learner(x))); }, learner.model().params());
  Gradients total = step(wave(input, 0));
  for (int t = 1; t < steps; ++t) total = total + step(wave(input, t));
  return total;
}

inline double distance(const Gradients& a, const Gradients& b) {
  return std::sqrt((a - b).squared_norm().item() / b.squared_norm().item());
}

}  // namespace braintrace
