// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/algorithms/learner.h"

namespace braintrace {

// Truncated backpropagation through time: reverse mode through every path inside a window, no memory across windows.
// With one window over the whole sequence this is full BPTT.   Werbos 1990
//
//   ∇ = ∂(Σ_t ℓ_t)/∂θ  with the states at the start of the window held constant
//
// Memory O(B·activations·window).
class BpttRule : public LearningRule {
 public:
  BpttRule() : LearningRule({.name = "BPTT", .method = VjpMethod::MultiStep, .needs_a_relation = false}) {}
};

// A learner with BpttRule.
class BPTT : public OnlineLearner {
 public:
  explicit BPTT(Module& model, LearnerOptions options = {})
      : OnlineLearner(model, std::make_shared<BpttRule>(), std::move(options)) {}
};

}  // namespace braintrace
