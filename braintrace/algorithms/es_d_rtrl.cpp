// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/es_d_rtrl.h"

#include <cmath>
#include <set>

#include "braintrace/executor/blocks.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

// Whether V(x, q) depends on x; `x` is the type of the filtered input.
bool reads_x(const TraceSite& s, const Type& x) {
  Types types              = s.call.in;
  types[s.call.op->etp->x] = x;
  const auto pull          = [&](const Tensors& in) -> Tensors {
    return {pull_back(s.call, s.weight, in, Tensor(s.call.y, 1))};
  };
  const Traced V = trace(types, pull);
  Mask         active(V.program.constants.size() + types.size());
  active[V.program.constants.size() + static_cast<size_t>(s.call.op->etp->x)] = true;
  return result_dependence(V.program, active)[0];
}

// Whether all other operands of the operation are parameters, so that V is the same function at every step.
bool is_constant_but_for_x(const HiddenParamOpRelation& r) {
  size_t known = 1;
  for (const Trainable& t : r.trainables) known += t.chain.constants.empty() ? 1 : 0;
  return known == r.call.in.size();
}

// Where a site stores its factors: filtered input and sensitivity in the memory, credit among the adjoints. Sites of
// one relation share ε^x; sites of one relation and group share ε^f and the credit.
struct Site : TraceSite {
  std::optional<size_t> x, q;  // x: none without an input; q: none if credit does not reach the steps behind ε^x
  size_t                f;
};

// Memory layout: a step counter, then the factors.
struct Layout {
  std::vector<Site> sites;
  MemorySlots       slots{{{DType::F64, {}}, "count"}};
  Types             adjoints;

  explicit Layout(const ETraceGraph& graph) {
    std::map<int, size_t>                 x_of;        // by relation
    std::map<std::pair<int, int>, size_t> f_of, q_of;  // by relation and connection
    for (const TraceSite& s : trace_sites(graph)) {
      const HiddenParamOpRelation& r = graph.hidden_param_op_relations[s.relation];
      if (r.descent)
        fail(
            "{}: its operation is inside a scan of {} substeps, which has no factorized trace.\n  Use a rule with one "
            "trace per weight (D-RTRL), or raise scan_unroll_limit.",
            r.weight_path.str(), r.descent->length);
      Site&           site  = sites.emplace_back(Site{s, {}, {}, 0});
      const EtpRules& rules = *s.call.op->etp;
      if (rules.x >= 0) {
        if (x_of.try_emplace(s.relation, slots.size()).second)
          slots.push_back({{s.call.y.dtype, shape_of_x(s.call)}, "x", s.relation});
        site.x = x_of.at(s.relation);
      }
      const HiddenGroup& g = graph.hidden_groups[s.group];
      if (f_of.try_emplace({s.relation, s.connection}, slots.size()).second)
        slots.push_back({{s.call.y.dtype, g.on_positions({g.num_state})}, "f", s.relation, s.group});
      site.f = f_of.at({s.relation, s.connection});
      if (!site.x || !is_constant_but_for_x(r) || !reads_x(s, slots[*site.x].type)) continue;
      if (q_of.try_emplace({s.relation, s.connection}, adjoints.size()).second) adjoints.push_back(s.call.y);
      site.q = q_of.at({s.relation, s.connection});
    }
  }
  // Shape of the filtered input.
  static Shape shape_of_x(const EtpCall& call) {
    const Type t = call.in[call.op->etp->x];
    if (!call.op->etp->represent) return t.shape;
    const Traced code =
        trace({t}, [&](const Tensors& in) -> Tensors { return {call.op->etp->represent(call, in[0])}; });
    return code.program.type(code.program.results[0]).shape;
  }
};

Tensor represented(const TraceSite& s, const Tensor& x) {
  const EtpRules& rules = *s.call.op->etp;
  return convert(rules.represent ? rules.represent(s.call, x) : x, s.call.y.dtype);
}

// Σ_a credit · sensitivity, in the layout of the operation's output.
Tensor cotangent(const Step& step, const TraceSite& s, const Tensor& credit, const Tensor& sensitivity) {
  return as_output(s.call, step.graph().hidden_groups[s.group], sum(credit * sensitivity, Ints{-1}));
}

}  // namespace

TraceDecay TraceDecay::rank(int r) {
  require(r >= 1, "TraceDecay: the rank must be at least 1, got {}.", r);
  return decay((r - 1.0) / (r + 1.0));
}

IODimRule::IODimRule(std::string name, IODimOptions options)
    : LearningRule(
          {.name = std::move(name), .coupled = options.coupled, .reads_output = options.signal.reads_output()}),
      options_(std::move(options)) {
  for (double a : {options_.decay.x, options_.decay.f})
    require(a >= 0 && a < 1, "{}: a decay must be in [0, 1), got {}.", this->name(), a);
}

MemorySlots IODimRule::memory(const ETraceGraph& graph) const { return Layout(graph).slots; }

Tensors IODimRule::advance(Step& step, const Tensors& memory, const Tensors&) const {
  const Layout layout(step.graph());
  const double alpha_x = options_.decay.x, alpha_f = options_.decay.f;
  Tensors      next(memory.size());
  next[0] = memory[0] + 1;
  for (const Site& s : layout.sites) {
    if (s.x) next[*s.x] = alpha_x * memory[*s.x] + represented(s, step.operands(s.relation)[s.call.op->etp->x]);
    const Tensor D_f = step.D_f(s.relation, s.connection);
    Tensor       sum;
    if (options_.leak)
      sum = *options_.leak == 0 ? Tensor() : alpha_f * *options_.leak * memory[s.f];
    else if (const Tensor D = step.D(s.group); D.defined())
      sum = alpha_f * applied(D, memory[s.f]);
    if (D_f.defined()) sum = add_defined(sum, (1 - alpha_f) * D_f);
    next[s.f] = sum.defined() ? sum : zeros_like(memory[s.f]);
  }
  return next;
}

namespace {

// Σ_a credit · ε^f / c_m with c_m = max(1 - α_f^m, 1e-8), in the layout of the operation's output; undefined without
// credit.
Tensor sensed(const Step& step, const Site& s, const Tensors& memory, const Tensors& credit, double alpha_f) {
  if (!credit[s.group].defined()) return {};
  const Tensor& f    = memory[s.f];
  const Tensor  c    = maximum(1 - pow(Tensor(Type{DType::F64, {}}, alpha_f), memory[0]), 1e-8);
  const DType   wide = promote(f.dtype(), DType::F32);  // 1e-8 underflows in half precision
  return cotangent(step, s, credit[s.group], convert(convert(f, wide) / convert(c, wide), f.dtype()));
}

// Adds V(ε^x, q).
void add_remembered(const Step& step, const Site& s, const Tensors& memory, const Tensor& q, Tensors& leaf_gradients) {
  if (!q.defined()) return;
  Tensors filtered = step.operands(s.relation);
  if (s.x) filtered[s.call.op->etp->x] = memory[*s.x];
  step.add_operand_gradient(s.relation, s.trainable, pull_back(s.call, s.weight, filtered, q), leaf_gradients);
}

}  // namespace

void IODimRule::recall(Step& step, const Tensors& memory, const Tensors& credit, Tensors& leaf_gradients) const {
  for (const Site& s : Layout(step.graph()).sites)
    add_remembered(step, s, memory, sensed(step, s, memory, credit, options_.decay.f), leaf_gradients);
}

Types IODimRule::adjoint(const ETraceGraph& graph) const { return Layout(graph).adjoints; }

Retreat IODimRule::retreat(Step& step, const StepBack& at) const {
  const ETraceGraph& graph = step.graph();
  const Layout       layout(graph);
  const double       alpha_f = options_.decay.f;
  Step::SameStep     now     = step.pull(at.ct);
  const Tensors      given   = options_.signal.received(step, now.L, at.ct, at.aux);  // L'
  Tensors            leaf_gradients(graph.module_info.weights.size()), past(layout.adjoints.size());
  if (options_.signal.is_modulatory()) step.forget_traced(now.inputs);
  for (const Site& s : layout.sites) {
    const Tensor q = sensed(step, s, at.after, given, alpha_f);
    const Tensor o = sensed(step, s, at.before, now.O, alpha_f);
    Tensor       present;
    if (s.q) {
      present    = add_defined(q, at.adjoint[*s.q]);
      past[*s.q] = add_defined(present.defined() ? options_.decay.x * present : Tensor(), o);
    } else {
      add_remembered(step, s, at.after, q, leaf_gradients);
      add_remembered(step, s, at.before, o, leaf_gradients);
    }
    if (const Tensor& D_f = step.D_f(s.relation, s.connection); D_f.defined() && !options_.signal.is_modulatory())
      present = add_defined(present, -cotangent(step, s, now.L[s.group], D_f));
    if (!present.defined()) continue;
    Tensors operands = step.operands(s.relation);
    if (const int x = s.call.op->etp->x; x >= 0) operands[x] = represented(s, operands[x]);
    step.add_operand_gradient(s.relation, s.trainable, pull_back(s.call, s.weight, operands, present), leaf_gradients);
  }
  step.add_to_inputs(leaf_gradients, now.inputs);
  return {now.inputs, past};
}

void IODimRule::enter(Step& first, const Tensors& memory, const Tensors& adjoint, Tensors& leaf_gradients) const {
  for (const Site& s : Layout(first.graph()).sites)
    if (s.q) add_remembered(first, s, memory, adjoint[*s.q], leaf_gradients);
}

}  // namespace braintrace
