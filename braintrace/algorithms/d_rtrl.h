// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/algorithms/learner.h"

namespace braintrace {

// D-RTRL — diagonal real-time recurrent learning.   Williams & Zipser 1989; Wang et al. 2026
//
//   ε_t = D_t ε_{t-1} + D_f,t ⊗ ∂y_t/∂w          D = ∂h_t/∂h_{t-1} per position,  D_f = ∂h_t/∂y_t
//   ∇_t = s_t + L_t · D_t ε_{t-1}                 s = same-step gradient,  L = learning signal
//
// Memory O(B·|θ|·S). Exact when the hidden-to-hidden Jacobian is block diagonal over positions.
class DRtrlRule : public LearningRule {
 public:
  std::string name() const override { return "D_RTRL"; }
  Types       memory(const ETraceGraph& graph) const override;
  Tensors     advance(Step& step, const Tensors& eps) const override;
  void        credit(Step& step, const Tensors& before, const Tensors& after, const Tensors& L,
                     Tensors& leaf_gradients) const override;
};

class D_RTRL : public OnlineLearner {
 public:
  explicit D_RTRL(Module& model, CompileOptions options = {})
      : OnlineLearner(model, std::make_shared<DRtrlRule>(), std::move(options)) {}
};

// OSTL for recurrent nets: D-RTRL whose D keeps the products, true diagonal blocks of the whole transition.
// Bohnstingl et al. 2022
class OstlRecurrentRule : public DRtrlRule {
 public:
  std::string    name() const override { return "OSTLRecurrent"; }
  CompileOptions scope(CompileOptions options) const override {
    options.include_recurrent_mixing = true;
    return options;
  }
};

class OSTLRecurrent : public OnlineLearner {
 public:
  explicit OSTLRecurrent(Module& model, CompileOptions options = {})
      : OnlineLearner(model, std::make_shared<OstlRecurrentRule>(), std::move(options)) {}
};

}  // namespace braintrace
