// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/algorithms/learner.h"
#include "braintrace/algorithms/param_dim.h"

namespace braintrace {

// e-prop with a low-pass filter on the trace.   Bellec et al. 2020
//
//   ε_t = D_t ε_{t-1} + D_f,t ⊗ ∂y_t/∂w           ē_t = κ ē_{t-1} + ε_t
//   ∇_t = s_t + L'_t · ē_t − L_t · D_f,t ⊗ ∂y_t/∂w
//
// The filter advances at every step, with or without a loss. L' is the learning signal L, or its random-feedback
// version (RandomFeedback). With κ = 0 and L' = L this is D-RTRL.
class EProp : public OnlineLearner {
 public:
  explicit EProp(Module& model, double kappa_filter_decay = 0, LearnerOptions options = {})
      : EProp(model, kappa_filter_decay, LearningSignal(), std::move(options)) {}
  EProp(Module& model, double kappa_filter_decay, RandomFeedback feedback, LearnerOptions options = {})
      : EProp(model, kappa_filter_decay, LearningSignal::random_feedback(std::move(feedback)), std::move(options)) {}

 private:
  EProp(Module& model, double kappa, LearningSignal signal, LearnerOptions options)
      : OnlineLearner(
            model,
            std::make_shared<ParamDimRule>("EProp", ParamDimOptions{.kappa = kappa, .signal = std::move(signal)}),
            std::move(options)) {}
};

}  // namespace braintrace
