// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/es_d_rtrl.h"

#include <cmath>
#include <set>

#include "braintrace/ir/builder.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {

namespace {

// The memory is: a step counter, then per site-relation its filtered input, then per (relation, group) its filtered
// sensitivity. Sites of one relation and group share them.
struct Layout {
  std::vector<TraceSite>                sites;
  std::map<int, size_t>                 x_slot;  // by relation
  std::map<std::pair<int, int>, size_t> f_slot;  // by relation and connection
  Types                                 types{{DType::F64, {}}};

  explicit Layout(const ETraceGraph& graph) : sites(trace_sites(graph)) {
    for (const TraceSite& s : sites) {
      const EtpRules& rules = *s.call.op->etp;
      if (rules.x >= 0 && x_slot.try_emplace(s.relation, types.size()).second) {
        Type t = s.call.in[rules.x];
        if (rules.represent) {
          const Traced code =
              trace({t}, [&](const Tensors& in) -> Tensors { return {rules.represent(s.call, in[0])}; });
          t = code.program.type(code.program.results[0]);
        }
        types.push_back({s.call.y.dtype, t.shape});
      }
      const HiddenGroup& g = graph.hidden_groups[s.group];
      if (f_slot.try_emplace({s.relation, s.connection}, types.size()).second) {
        Shape shape = g.varshape;
        shape.push_back(g.num_state);
        types.push_back({s.call.y.dtype, shape});
      }
    }
  }
};

Tensor represented(const TraceSite& s, const Tensor& x) {
  const EtpRules& rules = *s.call.op->etp;
  return convert(rules.represent ? rules.represent(s.call, x) : x, s.call.y.dtype);
}

// D f : [*varshape,S]
Tensor transit(const Tensor& D, const Tensor& f) { return sum(D * expand_dims(f, -2), Ints{-1}); }

}  // namespace

TraceDecay TraceDecay::rank(int r) {
  require(r >= 1, "TraceDecay: the rank must be at least 1, got {}.", r);
  return decay((r - 1.0) / (r + 1.0));
}

EsDRtrlRule::EsDRtrlRule(TraceDecay decay) : decay_(decay) {
  for (double a : {decay.x, decay.f}) require(a >= 0 && a < 1, "ES_D_RTRL: a decay must be in [0, 1), got {}.", a);
}

Types EsDRtrlRule::memory(const ETraceGraph& graph) const { return Layout(graph).types; }

Tensors EsDRtrlRule::advance(Step& step, const Tensors& memory) const {
  const Layout layout(step.graph());
  Tensors      next(memory.size());
  next[0] = memory[0] + 1;
  for (const TraceSite& s : layout.sites) {
    if (const auto x = layout.x_slot.find(s.relation); x != layout.x_slot.end())
      next[x->second] = decay_.x * memory[x->second] + represented(s, step.operands(s.relation)[s.call.op->etp->x]);
    const size_t  f = layout.f_slot.at({s.relation, s.connection});
    const Tensor &D = step.D(s.group), &D_f = step.D_f(s.relation, s.connection);
    Tensor        sum;
    if (D.defined()) sum = decay_.f * transit(D, memory[f]);
    if (D_f.defined()) sum = add_defined(sum, (1 - decay_.f) * D_f);
    next[f] = sum.defined() ? sum : zeros_like(memory[f]);
  }
  return next;
}

void EsDRtrlRule::credit(Step& step, const Tensors&, const Tensors& after, const Tensors& L,
                         Tensors& leaf_gradients) const {
  const Layout layout(step.graph());
  // c_m = max(1 - α_f^m, 1e-8)
  const Tensor c = maximum(1 - pow(Tensor(Type{DType::F64, {}}, decay_.f), after[0]), 1e-8);
  for (const TraceSite& s : layout.sites) {
    const HiddenGroup& g         = step.graph().hidden_groups[s.group];
    const Tensor&      D_f       = step.D_f(s.relation, s.connection);
    const Tensor&      f         = after[layout.f_slot.at({s.relation, s.connection})];
    auto               cotangent = [&](const Tensor& sensitivity) {
      return as_output(s.call, g, sum(L[s.group] * sensitivity, Ints{-1}));
    };
    Tensors filtered = step.operands(s.relation), present = filtered;
    if (const auto x = layout.x_slot.find(s.relation); x != layout.x_slot.end()) {
      const int operand = s.call.op->etp->x;
      filtered[operand] = after[x->second];
      present[operand]  = represented(s, present[operand]);
    }
    Tensor gradient = pull_back(s.call, s.weight, filtered, cotangent(f / convert(c, f.dtype())));
    if (D_f.defined()) gradient = gradient - pull_back(s.call, s.weight, present, cotangent(D_f));
    step.add_operand_gradient(s, gradient, leaf_gradients);
  }
}

}  // namespace braintrace
