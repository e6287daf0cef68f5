// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/algorithms/signal.h"

namespace braintrace {

struct ParamDimOptions {
  double                kappa       = 0;  // decay of the filter on the trace
  LearningSignal        signal      = {};
  std::optional<double> leak        = {};     // a fixed decay in place of D; 0 forgets at once
  bool                  coupled     = false;  // D keeps the products: true diagonal blocks of the whole transition
  std::optional<DType>  trace_dtype = {};     // storage of the traces; that of the states when not given
};

// Rules with one trace per weight (parameter-dimension traces). D-RTRL, OSTL, e-prop, SnAp and three-factor learning
// are points of this family.
//
//   ε_t = D_t ε_{t-1} + D_f,t ⊗ ∂y_t/∂w            ē_t = κ ē_{t-1} + ε_t         D = ∂h_t/∂h_{t-1},  D_f = ∂h_t/∂y_t
//   ∇_t = s_t + L'_t · ē_t − L_t · D_f,t ⊗ ∂y_t/∂w                               s = same-step gradient
//
// L is the learning signal, L' what a feedback path makes of it; L' = L and κ = 0 give D-RTRL. Over a window a … b,
// with λ_t = L'_t + F_t and μ_t = L'_t + κ μ_{t+1},
//
//   F_b = 0,   F_t = κ μ_{t+1} + D_{t+1}ᵀ λ_{t+1} + O_{t+1}
//   ∇ = Σ s_t + Σ Pull_t(F_t) + Σ (L'_t − L_t) · D_f,t ⊗ ∂y_t/∂w + (D_aᵀ λ_a + O_a) · ε_{a-1} + κ μ_a · ē_{a-1}
//
// so the way back needs no trace inside the window. A modulator in place of L' leaves traced weights
// Σ λ_t · D_f,t ⊗ ∂y_t/∂w and the two terms of the past.
class ParamDimRule : public LearningRule {
 public:
  explicit ParamDimRule(std::string name, ParamDimOptions options = {});

  std::optional<TraceRecursion> recursion() const override;
  Types   adjoint(const ETraceGraph& graph) const override;  // per group Dᵀλ + O; with a filter then κμ
  Retreat retreat(Step& step, const StepBack& at) const override;
  void    enter(Step& first, const Tensors& memory, const Tensors& adjoint, Tensors& leaf_gradients) const override;

 protected:
  ParamDimRule(RuleFacts facts, ParamDimOptions options);

 private:
  template <class List>
  struct Adjoint {
    List past, filter;  // Dᵀλ + O and κμ of every group
  };
  Adjoint<Types> adjoints(const ETraceGraph& graph) const;

  ParamDimOptions options_;
};

}  // namespace braintrace
