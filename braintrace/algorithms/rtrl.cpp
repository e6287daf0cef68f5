// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/rtrl.h"

#include <algorithm>

#include "braintrace/ops/axes.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/vmap.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

// The map from all hidden states, and the leaves that reach one, to the new hidden states.
struct Influence {
  std::vector<int> weights;  // indices of these leaves in ModuleInfo::weights
  Region           region;
  Vars             leaves, entries, exits;

  explicit Influence(const ModuleInfo& info) : entries(info.entries()) {
    const Flow flow(info.program(), entries);
    for (const HiddenVar& h : info.hidden) exits.push_back(h.out);
    for (size_t w = 0; w < info.weights.size(); ++w) {
      const Vars reached = reach_forward(flow, {info.weights[w].var});
      if (std::find_first_of(reached.begin(), reached.end(), exits.begin(), exits.end()) == reached.end()) continue;
      weights.push_back(static_cast<int>(w));
      leaves.push_back(info.weights[w].var);
    }
    region = cut_region(flow, joined(leaves, entries), exits);
  }
};

}  // namespace

MemorySlots RtrlRule::memory(const ETraceGraph& graph) const {
  const ModuleInfo& info = graph.module_info;
  MemorySlots       out;
  for (int w : Influence(info).weights)
    for (const HiddenVar& h : info.hidden)
      out.push_back({stacked(info.program().type(h.out), info.program().type(info.weights[w].var).size()), "influence",
                     -1, -1, -1, w});
  return out;
}

Tensors RtrlRule::advance(Step& step, const Tensors& memory, const Tensors&) const {
  const Influence f(step.graph().module_info);
  const Program&  p     = f.region.program;
  const Tensors   point = gather(step.values(), joined(f.region.constants, f.leaves, f.entries));
  const size_t    n     = f.entries.size();
  Tensors         next;
  for (size_t w = 0; w < f.leaves.size(); ++w) {
    // One tangent per entry of the leaf: a unit vector for the leaf, and column of J_{t-1} for the states.
    const Type    leaf  = step.values()[f.leaves[w]].type();
    const int64_t count = leaf.size();
    const Tensors basis{reshape(eye(count, leaf.dtype), stacked(leaf, count).shape)};
    Mask          is_pushed(f.leaves.size());
    is_pushed[w]                    = true;
    const Mask          has_tangent = joined(Mask(f.region.constants.size(), false), is_pushed, Mask(n, true));
    const Dual<Tensors> given{point, joined(basis, part(memory, w * n, (w + 1) * n))};
    const Dual<Types>   types{types_of(point), chosen(types_of(point), has_tangent)};
    const Traced        one = trace(joined(types), [&](const Tensors& flat) {
      const auto in = split(flat, types);
      return instantiated(jvp(p, in.values, spread(in.tangents, has_tangent)).tangents, p.types_of(p.results));
    });
    const Mask batched = joined(Mask(one.constants.size() + point.size(), false), Mask(given.tangents.size(), true));
    next = joined(next, vmap(one.program, joined(one.constants, joined(given)), batched, count, Mask(n, true)));
  }
  return next;
}

void RtrlRule::recall(Step& step, const Tensors& memory, const Tensors& credit, Tensors& leaf_gradients) const {
  const ModuleInfo&      info    = step.graph().module_info;
  const std::vector<int> weights = Influence(info).weights;
  for (const HiddenGroup& g : step.graph().hidden_groups) {
    if (!credit[g.index].defined()) continue;
    const Tensors members = g.split_hidden(credit[g.index]);
    for (size_t m = 0; m < g.members.size(); ++m)
      for (size_t k = 0; k < weights.size(); ++k) {
        const int     w        = weights[k];
        const Tensor& J        = memory[k * info.hidden.size() + g.members[m]];
        const Tensor  gradient = sum(J * broadcast_to(expand_dims(members[m], 0), J.shape()), counted(1, J.rank() - 1));
        leaf_gradients[w] =
            add_defined(leaf_gradients[w], reshape(gradient, info.program().type(info.weights[w].var).shape));
      }
  }
}

}  // namespace braintrace
