// SPDX-License-Identifier: Apache-2.0
// Traces that are linear in their past, one for each weight and each group it is traced to:
//
//   ε_t = D_t ε_{t-1} + D_f,t ⊗ ∂y_t/∂w            ē_t = κ ē_{t-1} + ε_t
//
// A rule says D and κ. How traces are stored, and how they get through a window, is decided here:
//
//   factored   where D is zero by structure (a vanilla RNN) ε_t is a product of the last step; where its factors ∂y/∂w
//              and D_f are smaller, they are kept in its place
//   gathered   a window forms no trace inside it: each step leaves D_t, D_f,t and ∂y_t/∂w, and these make the trace
//   after
//              the last step from the one before the first, each factor read once (blocks.h)
//
//                ε_b = P_{a-1→b} ε_{a-1} + Σ_t P_{t→b} D_f,t ⊗ ∂y_t/∂w            P_{s→t} = D_t … D_{s+1}
#pragma once

#include <functional>
#include <string>

#include "braintrace/executor/step.h"

namespace braintrace {

// One tensor a rule remembers: "trace", "filter", "x", "f", "count", … of a relation and group.
struct MemorySlot {
  Type        type;
  std::string kind;
  int         relation = -1, group = -1, trainable = -1;  // where it belongs to one
  int         leaf  = -1;     // of ModuleInfo::weights, where it belongs to a parameter as a whole
  bool        lasts = false;  // it goes on when the learner is reset
};
using MemorySlots = std::vector<MemorySlot>;
struct Remembered {
  MemorySlot slot;
  Tensor     value;
};
Types types_of(const MemorySlots& slots);

// The state axis of traces has the width W of HiddenGroup::trace_state_width: S, or more where a trace covers the
// states of neighbors.
struct TraceRecursion {
  using OnGroup = std::function<Tensor(const HiddenGroup&, const Tensor&)>;

  double                                  kappa = 0;
  std::optional<DType>                    dtype = {};  // of storage; that of the states when not given
  std::function<Tensor(Step&, int group)> D = [](Step& step, int group) { return step.D(group); };  // [*varshape,W,W]
  std::function<bool(const HiddenGroup&)> forgets = braintrace::forgets;  // D is zero by structure
  // [*varshape,S] → [*varshape,W]: D_f in its place among the states a trace covers, and a signal to all of these.
  OnGroup place = [](const HiddenGroup&, const Tensor& D_f) { return D_f; };
  OnGroup widen = [](const HiddenGroup&, const Tensor& L) { return L; };
  // [*varshape,W] → [*varshape,S]: what belongs to the place of D_f.
  OnGroup at_place = [](const HiddenGroup&, const Tensor& F) { return F; };
};

class Traces {
 public:
  Traces(const ETraceGraph& graph, TraceRecursion recursion);

  const std::vector<TraceSite>& sites() const { return sites_; }
  // What is kept: every ε or its ∂y/∂w, with κ > 0 every ē, then D_f where ε is factored.
  MemorySlots slots() const;
  // The same as every ε, and every ē.
  std::vector<Remembered> written_out(const Tensors& memory) const;

  Tensors advance(Step& step, const Tensors& memory) const;
  // Where no descended scan folds its substeps, the memory can be made at the end of a window: from what each step
  // leaves, with a leading time axis. Undefined factors are zero.
  bool    gathers() const;
  Tensors factors(Step& step) const;
  Tensors gathered(const Tensors& memory, const Tensors& factors) const;

  // Adds Cᵀ(ℓ · ε), Cᵀ(ℓ · ē) and Cᵀ(ℓ · D_f ⊗ ∂y/∂w) of a site, ℓ : [*varshape,W]; C = ∂operand/∂leaves.
  void add_trace(Step& step, size_t site, const Tensor& ell, const Tensors& memory, Tensors& leaf_gradients) const;
  void add_filter(Step& step, size_t site, const Tensor& ell, const Tensors& memory, Tensors& leaf_gradients) const;
  void add_instant(Step& step, size_t site, const Tensor& ell, Tensors& leaf_gradients) const;

  // The two parts of a step, for rules that put them together in another way; undefined when structurally zero.
  Tensor propagated(Step& step, const TraceSite& site, const Tensor& eps) const;  // D ε
  Tensor instant(Step& step, const TraceSite& site) const;                        // D_f ⊗ ∂y/∂w

 private:
  template <class List>
  struct Kept {
    List traces, filters, tails;
  };
  template <class List>
  struct Factors {
    List D, D_f, coefficients;  // of groups, connections, sites
  };
  const HiddenGroup& group_of(const TraceSite& site) const { return graph_.hidden_groups[site.group]; }
  bool               is_factored(size_t site) const { return tail_[site] >= 0; }

  Tensor tail_of(Step& step, const TraceSite& site) const;      // D_f in its place
  Tensor coefficient(Step& step, const TraceSite& site) const;  // ∂y/∂w
  void   add_contracted(Step& step, const TraceSite& site, const Tensor& ell, const Tensor& eps,
                        Tensors& leaf_gradients) const;

  const ETraceGraph&     graph_;
  TraceRecursion         recursion_;
  std::vector<TraceSite> sites_;
  Kept<MemorySlots>      slots_;
  std::vector<int>       tail_;  // by site: where D_f is among the tails; -1 where ε itself is kept
};

}  // namespace braintrace
