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
// so no trace is formed inside the window; the one behind it comes from stacked factors, each read once (blocks.h):
//
//   ε_b = P_{a-1→b} ε_{a-1} + Σ_t P_{t→b} D_f,t ⊗ ∂y_t/∂w                        P_{s→t} = D_t … D_{s+1}
//
// Where D is zero by structure (a vanilla RNN) ε_t is a product of the last step; its factors are kept instead. A
// modulator in place of L' leaves traced weights Σ λ_t · D_f,t ⊗ ∂y_t/∂w and the two terms of the past.
class ParamDimRule : public LearningRule {
 public:
  explicit ParamDimRule(std::string name, ParamDimOptions options = {});

  std::string             name() const override { return name_; }
  bool                    reads_output() const override { return options_.signal.reads_output(); }
  CompileOptions          scope(CompileOptions options) const override;
  MemorySlots             memory(const ETraceGraph& graph) const override;
  std::vector<Remembered> written_out(const ETraceGraph& graph, const Tensors& memory) const override;
  Tensors                 advance(Step& step, const Tensors& memory, const Tensors& aux) const override;
  bool    gathers(const ETraceGraph& graph) const override;  // unless a descended scan folds its substeps
  Tensors factors(Step& step) const override;  // D of every group, D_f of every connection, ∂y/∂w of every site
  Tensors gathered(const ETraceGraph& graph, const Tensors& memory, const Tensors& factors) const override;
  void    recall(Step& step, const Tensors& memory, const Tensors& credit, Tensors& leaf_gradients) const override;
  Types   adjoint(const ETraceGraph& graph) const override;  // per group Dᵀλ + O; with a filter then κμ
  Retreat retreat(Step& step, const StepBack& at) const override;
  void    enter(Step& first, const Tensors& memory, const Tensors& adjoint, Tensors& leaf_gradients) const override;

 protected:
  // The state axis of traces has the width W of HiddenGroup::trace_state_width: SnAp widens it to the states of
  // neighbours.
  virtual Tensor transition(Step& step, int group) const;                                    // D : [*varshape,W,W]
  virtual Tensor widened(const HiddenGroup&, const Tensor& signal) const { return signal; }  // [*varshape,S] → W
  virtual Tensor from_anchor(const HiddenGroup&, const Tensor& D_f) const { return D_f; }    // [*varshape,S] → W
  virtual Tensor at_anchor(const HiddenGroup&, const Tensor& F) const { return F; }          // [*varshape,W] → S

 private:
  struct Layout;
  Layout layout(const ETraceGraph& graph) const;

  Tensor propagated(Step& step, const TraceSite& site, const Tensor& eps) const;  // D ε
  Tensor tail_of(Step& step, const TraceSite& site) const;                        // D_f, widened
  Tensor instantaneous(Step& step, const TraceSite& site) const;                  // D_f ⊗ ∂y/∂w
  void   add_remembered(Step& step, const Layout& layout, size_t site, const Tensor& ell, const Tensors& memory,
                        Tensors& leaf_gradients) const;  // Cᵀ(ℓ · ε) of ε as it is kept
  void   add_contracted(Step& step, const TraceSite& site, const Tensor& ell, const Tensor& eps,
                        Tensors& leaf_gradients) const;  // Cᵀ(ℓ · ε)

  std::string     name_;
  ParamDimOptions options_;
};

}  // namespace braintrace
