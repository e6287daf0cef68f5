// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/es_d_rtrl.h"

#include <cmath>
#include <set>

#include "braintrace/algorithms/blocks.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/families.h"
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
  MemorySlots                           slots{{{DType::F64, {}}, "count"}};

  explicit Layout(const ETraceGraph& graph) : sites(trace_sites(graph)) {
    for (const TraceSite& s : sites) {
      const HiddenParamOpRelation& r = graph.hidden_param_op_relations[s.relation];
      if (r.descent)
        fail(
            "{}: its operation is inside a scan of {} substeps, which has no factorised trace.\n  Use a rule with one "
            "trace per weight (D-RTRL), or raise scan_unroll_limit.",
            r.weight_path.str(), r.descent->length);
      const EtpRules& rules = *s.call.op->etp;
      if (rules.x >= 0 && x_slot.try_emplace(s.relation, slots.size()).second) {
        Type t = s.call.in[rules.x];
        if (rules.represent) {
          const Traced code =
              trace({t}, [&](const Tensors& in) -> Tensors { return {rules.represent(s.call, in[0])}; });
          t = code.program.type(code.program.results[0]);
        }
        slots.push_back({{s.call.y.dtype, t.shape}, "x", s.relation});
      }
      const HiddenGroup& g = graph.hidden_groups[s.group];
      if (f_slot.try_emplace({s.relation, s.connection}, slots.size()).second)
        slots.push_back({{s.call.y.dtype, g.on_positions({g.num_state})}, "f", s.relation, s.group});
    }
  }
};

Tensor represented(const TraceSite& s, const Tensor& x) {
  const EtpRules& rules = *s.call.op->etp;
  return convert(rules.represent ? rules.represent(s.call, x) : x, s.call.y.dtype);
}

// Σ_a credit · sensitivity, laid out like the operation's output.
Tensor cotangent(const Step& step, const TraceSite& s, const Tensor& credit, const Tensor& sensitivity) {
  return as_output(s.call, step.graph().hidden_groups[s.group], sum(credit * sensitivity, Ints{-1}));
}

}  // namespace

TraceDecay TraceDecay::rank(int r) {
  require(r >= 1, "TraceDecay: the rank must be at least 1, got {}.", r);
  return decay((r - 1.0) / (r + 1.0));
}

IODimRule::IODimRule(std::string name, IODimOptions options) : name_(std::move(name)), options_(std::move(options)) {
  for (double a : {options_.decay.x, options_.decay.f})
    require(a >= 0 && a < 1, "{}: a decay must be in [0, 1), got {}.", name_, a);
}

CompileOptions IODimRule::scope(CompileOptions options) const {
  options.include_recurrent_mixing = options_.coupled;
  return options;
}

MemorySlots IODimRule::memory(const ETraceGraph& graph) const { return Layout(graph).slots; }

Tensors IODimRule::advance(Step& step, const Tensors& memory, const Tensors&) const {
  const Layout layout(step.graph());
  const double alpha_x = options_.decay.x, alpha_f = options_.decay.f;
  Tensors      next(memory.size());
  next[0] = memory[0] + 1;
  for (const TraceSite& s : layout.sites) {
    if (const auto x = layout.x_slot.find(s.relation); x != layout.x_slot.end())
      next[x->second] = alpha_x * memory[x->second] + represented(s, step.operands(s.relation)[s.call.op->etp->x]);
    const size_t f   = layout.f_slot.at({s.relation, s.connection});
    const Tensor D_f = step.D_f(s.relation, s.connection);
    Tensor       sum;
    if (options_.leak)
      sum = *options_.leak == 0 ? Tensor() : alpha_f * *options_.leak * memory[f];
    else if (const Tensor D = step.D(s.group); D.defined())
      sum = alpha_f * applied(D, memory[f]);
    if (D_f.defined()) sum = add_defined(sum, (1 - alpha_f) * D_f);
    next[f] = sum.defined() ? sum : zeros_like(memory[f]);
  }
  return next;
}

void IODimRule::recall(Step& step, const Tensors& memory, const Tensors& credit, Tensors& leaf_gradients) const {
  const Layout layout(step.graph());
  // c_m = max(1 - α_f^m, 1e-8)
  const Tensor c = maximum(1 - pow(Tensor(Type{DType::F64, {}}, options_.decay.f), memory[0]), 1e-8);
  for (const TraceSite& s : layout.sites) {
    if (!credit[s.group].defined()) continue;
    const Tensor& f        = memory[layout.f_slot.at({s.relation, s.connection})];
    Tensors       filtered = step.operands(s.relation);
    if (const auto x = layout.x_slot.find(s.relation); x != layout.x_slot.end())
      filtered[s.call.op->etp->x] = memory[x->second];
    const Tensor q = cotangent(step, s, credit[s.group], f / convert(c, f.dtype()));
    step.add_operand_gradient(s.relation, s.trainable, pull_back(s.call, s.weight, filtered, q), leaf_gradients);
  }
}

Retreat IODimRule::retreat(Step& step, const StepBack& at) const {
  const ETraceGraph& graph = step.graph();
  Step::SameStep     now   = step.pull(at.ct);
  Tensors            leaf_gradients(graph.module_info.weights.size());
  recall(step, at.after, options_.signal.received(graph, now.L, at.ct, at.aux), leaf_gradients);
  recall(step, at.before, now.O, leaf_gradients);
  if (options_.signal.is_modulatory()) {
    step.forget_traced(now.inputs);
  } else {
    for (const TraceSite& s : trace_sites(graph)) {
      const Tensor& D_f = step.D_f(s.relation, s.connection);
      if (!D_f.defined()) continue;
      Tensors present = step.operands(s.relation);
      if (const int x = s.call.op->etp->x; x >= 0) present[x] = represented(s, present[x]);
      const Tensor q = cotangent(step, s, now.L[s.group], D_f);
      step.add_operand_gradient(s.relation, s.trainable, -pull_back(s.call, s.weight, present, q), leaf_gradients);
    }
  }
  step.add_to_inputs(leaf_gradients, now.inputs);
  return {now.inputs, {}};
}

}  // namespace braintrace
