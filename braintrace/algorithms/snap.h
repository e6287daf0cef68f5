// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/algorithms/learner.h"
#include "braintrace/algorithms/param_dim.h"

namespace braintrace {

// SnAp-n — sparse n-step approximation.   Menick et al. 2021
//
//   E_t[p,q] = M[p,q] Σ_s J_t[q,s] E_{t-1}[p,s] + [p=q] D_f,t ⊗ ∂y_t/∂w           J = ∂h_t/∂h_{t-1}, products kept
//   ∇_t = s_t + Σ_q L_t[q] · (recurrent part of E_t[p,q])
//
// The trace of a weight that feeds position p covers the positions q it can reach in at most n-1 steps: the state axis
// of D-RTRL widens from S to K·S, K neighbors with p first. n = 1 is OSTL; all positions in reach is exact for one
// group.
class SnapRule : public ParamDimRule {
 public:
  explicit SnapRule(int n, ParamDimOptions options = {});

  std::optional<TraceRecursion> recursion() const override;
};

// Every position of a row reaches every other: traces list the positions of the row in their own order, instead of p
// first.
bool reaches_whole_rows(const HiddenGroup& group);

class SnAp : public OnlineLearner {
 public:
  explicit SnAp(Module& model, int n = 2, LearnerOptions options = {})
      : OnlineLearner(model, std::make_shared<SnapRule>(n), std::move(options)) {}
};

}  // namespace braintrace
