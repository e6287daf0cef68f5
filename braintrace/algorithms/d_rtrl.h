// SPDX-License-Identifier: Apache-2.0
// D-RTRL — diagonal real-time recurrent learning.   Williams & Zipser 1989; Wang et al. 2026
//
//   ε_t = D_t ε_{t-1} + D_f,t ⊗ ∂y_t/∂w          D = ∂h_t/∂h_{t-1} per position,  D_f = ∂h_t/∂y_t
//   ∇_t = s_t + L_t · D_t ε_{t-1}                 s = same-step gradient,  L = learning signal ∂ℓ_t/∂h_t
//
// Memory O(B·|θ|·S). Exact when the hidden-to-hidden Jacobian is block diagonal over positions.
#pragma once

#include "braintrace/algorithms/learner.h"

namespace braintrace {

class D_RTRL : public OnlineLearner {
 public:
  using OnlineLearner::OnlineLearner;
};

}  // namespace braintrace
