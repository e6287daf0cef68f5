// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/algorithms/learner.h"

namespace braintrace {

// UORO — unbiased online recurrent optimization: the influence dh/dθ of each group as a random rank-one product s̃ ⊗ θ̃.
// Tallec & Ollivier 2018
//
//   d  = J_t s̃_{t-1}        J = ∂h_t/∂h_{t-1} of the group, all its positions and products; one forward-mode pass
//   p  = νᵀ D_f,t ⊗ ∂y_t/∂θ   ν random signs
//   ρ₀ = √((‖θ̃‖+ϵ)/(‖d‖+ϵ)),   ρ₁ = √((‖p‖+ϵ)/(‖ν‖+ϵ))
//   s̃_t = ρ₀ d + ρ₁ ν,         θ̃_t = θ̃_{t-1}/ρ₀ + p/ρ₁
//
// Back through a window, reverse mode meets ∂ℓ/∂h · s̃ θ̃ at its start; step by step, ∇_t = s_t + (L_t·s̃_t) θ̃_t less what
// s_t has of it. Memory O(|θ| + B·|h|). Unbiased for the recursion inside each group; noisy.
struct UoroOptions {
  uint64_t projection_key = 42;
  double   projection_eps = 1e-12;
};

class UoroRule : public LearningRule {
 public:
  explicit UoroRule(UoroOptions options = {});

  // The number of steps, which draws their signs and so outlasts a reset; then per group s̃ and θ̃ of its leaves.
  MemorySlots memory(const ETraceGraph& graph) const override;
  // `aux` may give the signs of each group; they are drawn from the key otherwise.
  Tensors advance(Step& step, const Tensors& memory, const Tensors& aux) const override;
  void    recall(Step& step, const Tensors& memory, const Tensors& credit, Tensors& leaf_gradients) const override;
  Retreat retreat(Step& step, const StepBack& at) const override;

 private:
  UoroOptions options_;
};

class UORO : public OnlineLearner {
 public:
  explicit UORO(Module& model, UoroOptions options = {}, LearnerOptions learner = {.vjp_method = VjpMethod::MultiStep})
      : OnlineLearner(model, std::make_shared<UoroRule>(options), std::move(learner)) {}
};

}  // namespace braintrace
