// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/algorithms/learner.h"
#include "braintrace/algorithms/param_dim.h"

namespace braintrace {

// SnAp-n — sparse n-step approximation.   Menick et al. 2021
//
//   E_t[p,q] = M[p,q] Σ_s J_t[q,s] E_{t-1}[p,s] + [p=q] D_f,t ⊗ ∂y_t/∂w           J = ∂h_t/∂h_{t-1}
//   ∇_t = s_t + Σ_q L_t[q] · (recurrent part of E_t[p,q])
//
// J includes paths through the recurrent weights. The trace of a weight that drives position p covers all positions q
// reachable from p in at most n-1 steps: the state axis of D-RTRL grows from S to K·S for K neighbors, p first. n = 1
// is OSTL. If all positions are reachable, the rule is exact for one group.
class SnapRule : public ParamDimRule {
 public:
  explicit SnapRule(int n, ParamDimOptions options = {});

  std::optional<TraceRecursion> recursion() const override;
};

// Whether every position of a row reaches every other one. Traces then list the row in order, instead of p first.
bool reaches_whole_rows(const HiddenGroup& group);

// A learner with SnapRule.
class SnAp : public OnlineLearner {
 public:
  explicit SnAp(Module& model, int n = 2, LearnerOptions options = {})
      : OnlineLearner(model, std::make_shared<SnapRule>(n), std::move(options)) {}
};

}  // namespace braintrace
