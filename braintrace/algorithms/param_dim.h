// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/algorithms/signal.h"

namespace braintrace {

// Options of ParamDimRule.
struct ParamDimOptions {
  double                kappa       = 0;  // decay of the filter on the trace
  LearningSignal        signal      = {};
  std::optional<double> leak        = {};     // a constant decay that replaces D; 0 keeps only the current step
  bool                  coupled     = false;  // D includes paths through the recurrent weights
  std::optional<DType>  trace_dtype = {};     // storage type of the traces; default: that of the states
};

// Rules with one trace per weight. D-RTRL, OSTL, e-prop, SnAp and three-factor learning belong to this family.
//
//   ε_t = D_t ε_{t-1} + D_f,t ⊗ ∂y_t/∂w            ē_t = κ ē_{t-1} + ε_t         D = ∂h_t/∂h_{t-1},  D_f = ∂h_t/∂y_t
//   ∇_t = s_t + L'_t · ē_t − L_t · D_f,t ⊗ ∂y_t/∂w                               s = same-step gradient
//
// L is the learning signal, L' the signal after the feedback path; L' = L and κ = 0 give D-RTRL. Over a window a … b,
// with λ_t = L'_t + F_t and μ_t = L'_t + κ μ_{t+1},
//
//   F_b = 0,   F_t = κ μ_{t+1} + D_{t+1}ᵀ λ_{t+1} + O_{t+1}
//   ∇ = Σ s_t + Σ Pull_t(F_t) + Σ (L'_t − L_t) · D_f,t ⊗ ∂y_t/∂w + (D_aᵀ λ_a + O_a) · ε_{a-1} + κ μ_a · ē_{a-1}
//
// so the backward pass needs no trace inside the window. If a modulator replaces L', the gradient of a traced weight is
// Σ λ_t · D_f,t ⊗ ∂y_t/∂w plus the two terms with the traces from before the window.
class ParamDimRule : public LearningRule {
 public:
  explicit ParamDimRule(std::string name, ParamDimOptions options = {});

  std::optional<TraceRecursion> recursion() const override;
  Types   adjoint(const ETraceGraph& graph) const override;  // per group Dᵀλ + O, then κμ if κ > 0
  Retreat retreat(Step& step, const StepBack& at) const override;
  void    enter(Step& first, const Tensors& memory, const Tensors& adjoint, Tensors& leaf_gradients) const override;

 protected:
  ParamDimRule(RuleFacts facts, ParamDimOptions options);

 private:
  template <class List>
  struct Adjoint {
    List past, filter;  // Dᵀλ + O and κμ, per group
  };
  Adjoint<Types> adjoints(const ETraceGraph& graph) const;

  ParamDimOptions options_;
};

}  // namespace braintrace
