// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/algorithms/learner.h"
#include "braintrace/algorithms/param_dim.h"

namespace braintrace {

// D-RTRL — diagonal real-time recurrent learning.   Williams & Zipser 1989; Wang et al. 2026
//
//   ε_t = D_t ε_{t-1} + D_f,t ⊗ ∂y_t/∂w          D = ∂h_t/∂h_{t-1} per position,  D_f = ∂h_t/∂y_t
//   ∇_t = s_t + L_t · D_t ε_{t-1}                 s = same-step gradient,  L = learning signal
//
// Memory O(B·|θ|·S). Exact when the hidden-to-hidden Jacobian is block diagonal over positions.
class D_RTRL : public OnlineLearner {
 public:
  explicit D_RTRL(Module& model, LearnerOptions options = {})
      : OnlineLearner(model, std::make_shared<ParamDimRule>("D_RTRL"), std::move(options)) {}
};
using ParamDimVjpAlgorithm = D_RTRL;

// OSTL for recurrent networks: D-RTRL with D = the exact diagonal blocks of ∂h_t/∂h_{t-1}, including paths through the
// recurrent weights.   Bohnstingl et al. 2023
class OSTLRecurrent : public OnlineLearner {
 public:
  explicit OSTLRecurrent(Module& model, LearnerOptions options = {})
      : OnlineLearner(model, std::make_shared<ParamDimRule>("OSTLRecurrent", ParamDimOptions{.coupled = true}),
                      std::move(options)) {}
};

}  // namespace braintrace
