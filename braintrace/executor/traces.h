// SPDX-License-Identifier: Apache-2.0
// Traces that are linear in their past, one for each weight and each group it is traced to:
//
//   ε_t = D_t ε_{t-1} + D_f,t ⊗ ∂y_t/∂w            ē_t = κ ē_{t-1} + ε_t
//
// A rule provides D and κ. This class decides how to store traces and how to advance them over a window:
//
//   factored   if D is structurally zero (a vanilla RNN), ε_t depends only on the last step; if ∂y/∂w and D_f are
//              smaller than ε_t, they are stored instead
//   gathered   a window forms no trace at its inner steps: each step outputs D_t, D_f,t and ∂y_t/∂w, from which the
//              trace after the last step is computed (blocks.h)
//
//                ε_b = P_{a-1→b} ε_{a-1} + Σ_t P_{t→b} D_f,t ⊗ ∂y_t/∂w            P_{s→t} = D_t … D_{s+1}
#pragma once

#include <functional>
#include <string>

#include "braintrace/executor/step.h"

namespace braintrace {

// One tensor in a rule's memory, such as the "trace", "filter", "x", "f" or "count" of a relation and group.
struct MemorySlot {
  Type        type;
  std::string kind;
  int         relation = -1, group = -1, trainable = -1;  // -1: not specific to one
  int         leaf  = -1;     // index in ModuleInfo::weights, if the slot belongs to a whole parameter
  bool        lasts = false;  // survives a reset of the learner
};
using MemorySlots = std::vector<MemorySlot>;
// A slot of the memory and its value.
struct Remembered {
  MemorySlot slot;
  Tensor     value;
};
Types types_of(const MemorySlots& slots);

// The recursion of linear traces. Their state axis has width W = HiddenGroup::trace_state_width: S, or more in SnAp-n.
struct TraceRecursion {
  using OnGroup = std::function<Tensor(const HiddenGroup&, const Tensor&)>;

  double                                  kappa = 0;
  std::optional<DType>                    dtype = {};  // storage type; default: that of the states
  std::function<Tensor(Step&, int group)> D = [](Step& step, int group) { return step.D(group); };  // [*varshape,W,W]
  std::function<bool(const HiddenGroup&)> forgets = braintrace::forgets;  // whether D is structurally zero
  // [*varshape,S] → [*varshape,W]: D_f at its position among the states a trace covers; a signal for all of these.
  OnGroup place = [](const HiddenGroup&, const Tensor& D_f) { return D_f; };
  OnGroup widen = [](const HiddenGroup&, const Tensor& L) { return L; };
  // [*varshape,W] → [*varshape,S]: the part at the position of D_f.
  OnGroup at_place = [](const HiddenGroup&, const Tensor& F) { return F; };
};

// The traces of a rule: their storage, their recursion, and their contraction with a signal.
class Traces {
 public:
  Traces(const ETraceGraph& graph, TraceRecursion recursion);

  const std::vector<TraceSite>& sites() const { return sites_; }
  // The stored tensors: every ε or its ∂y/∂w; if κ > 0, every ē; then D_f for each factored ε.
  MemorySlots slots() const;
  // The same memory in expanded form: every ε and every ē.
  std::vector<Remembered> written_out(const Tensors& memory) const;

  Tensors advance(Step& step, const Tensors& memory) const;
  // If no descended scan folds its substeps, the memory can be computed at the end of a window from the factors of each
  // step, stacked over time. Undefined factors are zero.
  bool    gathers() const;
  Tensors factors(Step& step) const;
  Tensors gathered(const Tensors& memory, const Tensors& factors) const;

  // Adds Cᵀ(ℓ · ε), Cᵀ(ℓ · ē) and Cᵀ(ℓ · D_f ⊗ ∂y/∂w) for a site, ℓ : [*varshape,W]; C = ∂operand/∂leaves.
  void add_trace(Step& step, size_t site, const Tensor& ell, const Tensors& memory, Tensors& leaf_gradients) const;
  void add_filter(Step& step, size_t site, const Tensor& ell, const Tensors& memory, Tensors& leaf_gradients) const;
  void add_instant(Step& step, size_t site, const Tensor& ell, Tensors& leaf_gradients) const;

  // The two terms of the recursion, for rules that combine them differently; undefined if structurally zero.
  Tensor propagated(Step& step, const TraceSite& site, const Tensor& eps) const;  // D ε
  Tensor instant(Step& step, const TraceSite& site) const;                        // D_f ⊗ ∂y/∂w

 private:
  template <class List>
  struct Kept {
    List traces, filters, tails;
  };
  template <class List>
  struct Factors {
    List D, D_f, coefficients;  // per group, connection and site
  };
  const HiddenGroup& group_of(const TraceSite& site) const { return graph_.hidden_groups[site.group]; }
  bool               is_factored(size_t site) const { return tail_[site] >= 0; }

  Tensor tail_of(Step& step, const TraceSite& site) const;      // D_f after `place`
  Tensor coefficient(Step& step, const TraceSite& site) const;  // ∂y/∂w
  void   add_contracted(Step& step, const TraceSite& site, const Tensor& ell, const Tensor& eps,
                        Tensors& leaf_gradients) const;

  const ETraceGraph&     graph_;
  TraceRecursion         recursion_;
  std::vector<TraceSite> sites_;
  Kept<MemorySlots>      slots_;
  std::vector<int>       tail_;  // per site: index of its D_f among the tails; -1 if ε itself is stored
};

}  // namespace braintrace
