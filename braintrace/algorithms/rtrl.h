// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/algorithms/learner.h"

namespace braintrace {

// Exact real-time recurrent learning, for small networks: stores the full Jacobian of the hidden states with respect to
// the weights.   Williams & Zipser 1989
//
//   J_t = (∂h_t/∂h_{t-1}) J_{t-1} + ∂h_t/∂θ              J = dh/dθ over all hidden states
//   ∇_t = s_t + ∂ℓ_t/∂h_{t-1} · J_{t-1}
//
// Memory O(B·|h|·|θ|); each step costs O(|θ|) forward passes. Equals BPTT at every step.
class RtrlRule : public LearningRule {
 public:
  RtrlRule() : LearningRule({.name = "RTRL", .method = VjpMethod::MultiStep, .needs_a_relation = false}) {}

  // One slot per hidden state and parameter leaf that reaches a hidden state: [|leaf|, *state].
  MemorySlots memory(const ETraceGraph& graph) const override;
  Tensors     advance(Step& step, const Tensors& memory, const Tensors& aux) const override;
  void        recall(Step& step, const Tensors& memory, const Tensors& credit, Tensors& leaf_gradients) const override;
};

// A learner with RtrlRule.
class RTRL : public OnlineLearner {
 public:
  explicit RTRL(Module& model, LearnerOptions options = {})
      : OnlineLearner(model, std::make_shared<RtrlRule>(), std::move(options)) {}
};

}  // namespace braintrace
