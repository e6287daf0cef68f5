// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/algorithms/learner.h"

namespace braintrace {

// e-prop with a low-pass filter on the trace.   Bellec et al. 2020
//
//   ε_t = D_t ε_{t-1} + D_f,t ⊗ ∂y_t/∂w           ē_t = κ ē_{t-1} + ε_t
//   ∇_t = s_t + L_t · ē_t − L_t · D_f,t ⊗ ∂y_t/∂w
//
// The filter advances at every step, whether or not it has a loss. κ = 0 is D-RTRL.
class EPropRule : public LearningRule {
 public:
  explicit EPropRule(double kappa);

  std::string name() const override { return "EProp"; }
  Types       memory(const ETraceGraph& graph) const override;  // ε, then ē
  Tensors     advance(Step& step, const Tensors& memory) const override;
  void        credit(Step& step, const Tensors& before, const Tensors& after, const Tensors& L,
                     Tensors& leaf_gradients) const override;

 private:
  double kappa_;
};

class EProp : public OnlineLearner {
 public:
  EProp(Module& model, double kappa_filter_decay, CompileOptions options = {})
      : OnlineLearner(model, std::make_shared<EPropRule>(kappa_filter_decay), std::move(options)) {}
};

}  // namespace braintrace
