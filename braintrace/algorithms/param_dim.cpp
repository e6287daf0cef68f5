// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/param_dim.h"

#include <algorithm>
#include <cmath>

#include "braintrace/algorithms/blocks.h"
#include "braintrace/compiler/trace_type.h"
#include "braintrace/control/nested.h"
#include "braintrace/etp/factored.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

const HiddenGroup& group_of(const Step& step, const TraceSite& site) { return step.graph().hidden_groups[site.group]; }

// The first site of a relation and a group; the others share its D_f.
bool is_first(const TraceSite& site) { return site.trainable == 0; }

}  // namespace

ParamDimRule::ParamDimRule(std::string name, ParamDimOptions options)
    : name_(std::move(name)), options_(std::move(options)) {
  require(options_.kappa >= 0 && options_.kappa < 1, "{}: the filter decay must be in [0, 1), got {}.", name_,
          options_.kappa);
  if (options_.leak)
    require(*options_.leak >= 0 && *options_.leak < 1, "{}: a decay must be in [0, 1), got {}.", name_, *options_.leak);
  if (options_.trace_dtype)
    require(is_float(*options_.trace_dtype), "{}: trace_dtype must be a float type, got {}.", name_,
            name_of(*options_.trace_dtype));
}

CompileOptions ParamDimRule::scope(CompileOptions options) const {
  options.include_recurrent_mixing = options_.coupled;
  return options;
}

// ε of every site; with a filter then ē of every site. Without D a trace is the product of ∂y/∂w and D_f of the last
// step: where they are smaller ∂y/∂w stands in place of ε, and D_f behind everything else.
struct ParamDimRule::Layout {
  std::vector<TraceSite> sites;
  MemorySlots            slots;
  std::vector<size_t>    tail;  // slot of D_f; 0 where ε itself is kept

  bool is_factored(size_t site) const { return tail[site] > 0; }
};

ParamDimRule::Layout ParamDimRule::layout(const ETraceGraph& graph) const {
  Layout out{trace_sites(graph), {}, {}};
  out.tail.resize(out.sites.size());
  MemorySlots filters, tails;
  for (size_t i = 0; i < out.sites.size(); ++i) {
    const TraceSite&   site = out.sites[i];
    const auto&        r    = graph.hidden_param_op_relations[site.relation];
    const HiddenGroup& g    = graph.hidden_groups[site.group];
    const auto         slot = [&](Type type, const char* kind) {
      type.dtype = options_.trace_dtype.value_or(type.dtype);
      return MemorySlot{std::move(type), kind, site.relation, site.group, site.trainable};
    };
    const MemorySlot trace =
        slot(trace_type(r, r.connections[site.connection], r.trainables[site.trainable], g), "trace");
    Type x{trace.type.dtype, coefficient_shape(site.call, site.weight)};
    x.shape.push_back(1);
    const Type f{trace.type.dtype, g.on_positions({g.trace_state_width()})};
    const bool ends     = !r.descent && (options_.leak ? *options_.leak == 0 : forgets(g));
    const bool factored = ends && x.size() + f.size() < trace.type.size();
    out.slots.push_back(factored ? slot(x, "x") : trace);
    if (factored) {
      tails.push_back(slot(f, "f"));
      out.tail[i] = tails.size();
    }
    if (options_.kappa > 0) {
      filters.push_back(trace);
      filters.back().kind = "filter";
    }
  }
  for (size_t& t : out.tail)
    if (t > 0) t += out.slots.size() + filters.size() - 1;
  out.slots.insert(out.slots.end(), filters.begin(), filters.end());
  out.slots.insert(out.slots.end(), tails.begin(), tails.end());
  return out;
}

MemorySlots ParamDimRule::memory(const ETraceGraph& graph) const { return layout(graph).slots; }

std::vector<Remembered> ParamDimRule::written_out(const ETraceGraph& graph, const Tensors& memory) const {
  const Layout            l   = layout(graph);
  std::vector<Remembered> out = LearningRule::written_out(graph, memory);
  for (size_t i = 0; i < l.sites.size(); ++i)
    if (l.is_factored(i)) {
      const TraceSite& site = l.sites[i];
      const Tensor     f    = as_output(site.call, graph.hidden_groups[site.group], memory[l.tail[i]]);
      out[i].slot.kind      = "trace";
      out[i].value          = memory[i] * site.call.op->etp->spread(site.call, site.weight, f);
      out[i].slot.type      = out[i].value.type();
    }
  out.resize(l.sites.size() * (options_.kappa > 0 ? 2 : 1));
  return out;
}

Tensors ParamDimRule::advance(Step& step, const Tensors& memory, const Tensors&) const {
  const Layout l = layout(step.graph());
  const size_t N = l.sites.size();
  Tensors      next(memory.size());
  const auto   keep = [&](size_t slot, const Tensor& t) {
    const Type& type = memory[slot].type();
    next[slot]       = t.defined() ? convert(t, type.dtype) : Tensor(type, 0);
  };
  for (size_t i = 0; i < N; ++i) {
    const TraceSite& site = l.sites[i];
    const Tensor     now  = instantaneous(step, site);
    if (l.is_factored(i)) {
      keep(i, expand_dims(site.call.op->etp->coefficient(site.call, site.weight, step.operands(site.relation)), -1));
      keep(l.tail[i], tail_of(step, site));
    } else {
      keep(i, add_defined(propagated(step, site, memory[i]), now));
    }
    if (options_.kappa > 0) keep(N + i, add_defined(options_.kappa * memory[N + i], l.is_factored(i) ? now : next[i]));
  }
  return next;
}

bool ParamDimRule::gathers(const ETraceGraph& graph) const {
  const auto sites = trace_sites(graph);
  return !sites.empty() && std::none_of(sites.begin(), sites.end(), [&](const TraceSite& site) {
    return graph.hidden_param_op_relations[site.relation].descent != nullptr;
  });
}

Tensors ParamDimRule::factors(Step& step) const {
  const auto sites = trace_sites(step.graph());
  Tensors    out;
  for (const HiddenGroup& g : step.graph().hidden_groups) out.push_back(transition(step, g.index));
  for (const TraceSite& site : sites)
    if (is_first(site)) out.push_back(tail_of(step, site));
  for (const TraceSite& site : sites)
    out.push_back(site.call.op->etp->coefficient(site.call, site.weight, step.operands(site.relation)));
  return out;
}

Tensors ParamDimRule::gathered(const ETraceGraph& graph, const Tensors& memory, const Tensors& factors) const {
  const Layout  l = layout(graph);
  const size_t  n = graph.hidden_groups.size(), N = l.sites.size();
  const int64_t K = factors.back().shape()[0];

  std::vector<WindowProducts> products;
  for (const HiddenGroup& g : graph.hidden_groups) {
    const Type block{state_dtype(graph, g), g.on_positions({g.trace_state_width(), g.trace_state_width()})};
    products.push_back(window_products(factors[g.index], K, block, options_.kappa));
  }
  Tensors    next(memory.size());
  const auto keep = [&](size_t slot, const Tensor& t) {
    const Type& type = memory[slot].type();
    next[slot]       = t.defined() ? convert(broadcast_to(t, type.shape), type.dtype) : Tensor(type, 0);
  };
  for (size_t i = 0, tail = n - 1; i < N; ++i) {
    const EtpCall&     call   = l.sites[i].call;
    const int          weight = l.sites[i].weight;
    const HiddenGroup& g      = graph.hidden_groups[l.sites[i].group];
    tail += is_first(l.sites[i]);
    const Tensor &D_f = factors[tail], &coefficients = factors[factors.size() - N + i];
    // X_0 ε_{a-1} + Σ_t X_t D_f,t ⊗ ∂y_t/∂w
    const auto what_is_left = [&](const Remains& X) {
      Tensor of_start, of_steps;
      if (X.of_start.defined())
        of_start = propagate(call, weight, as_output(call, g, X.of_start), convert(memory[i], X.of_start.dtype()));
      if (D_f.defined()) {
        const auto   last   = [&](const Tensor& t) { return slice_axis(t, 0, K - X.of_steps.shape()[0], K); };
        const Tensor remain = move_axis(applied(X.of_steps, last(D_f)), 0, -1);
        of_steps            = instants(call, weight, last(coefficients), as_output(call, g, remain));
      }
      return add_defined(of_start, of_steps);
    };
    if (l.is_factored(i)) {
      keep(i, expand_dims(row(coefficients, K - 1), -1));
      keep(l.tail[i], D_f.defined() ? row(D_f, K - 1) : Tensor());
    } else {
      keep(i, what_is_left(products[g.index].plain));
    }
    if (options_.kappa > 0)
      keep(N + i, add_defined(std::pow(options_.kappa, K) * memory[N + i], what_is_left(products[g.index].filtered)));
  }
  return next;
}

void ParamDimRule::recall(Step& step, const Tensors& memory, const Tensors& credit, Tensors& leaf_gradients) const {
  const Layout l = layout(step.graph());
  for (size_t i = 0; i < l.sites.size(); ++i)
    if (const Tensor& c = credit[l.sites[i].group]; c.defined())
      add_remembered(step, l, i, widened(group_of(step, l.sites[i]), c), memory, leaf_gradients);
}

Types ParamDimRule::adjoint(const ETraceGraph& graph) const {
  Types out;
  for (const HiddenGroup& g : graph.hidden_groups)
    out.push_back({state_dtype(graph, g), g.on_positions({g.trace_state_width()})});
  return options_.kappa > 0 ? joined(out, out) : out;
}

Retreat ParamDimRule::retreat(Step& step, const StepBack& at) const {
  const ETraceGraph& graph = step.graph();
  const size_t       n     = graph.hidden_groups.size();
  Step::SameStep     now   = step.pull(at.ct);
  const Tensors      given = options_.signal.received(step, now.L, at.ct, at.aux);  // L'
  Tensors            leaf_gradients(graph.module_info.weights.size()), lambdas, past(n), filter;
  for (size_t g = 0; g < n; ++g) {
    const HiddenGroup& group = graph.hidden_groups[g];
    const Tensor       L     = widened(group, given[g]);
    const Tensor       F     = add_defined(at.adjoint[g], options_.kappa > 0 ? at.adjoint[n + g] : Tensor());
    lambdas.push_back(add_defined(L, F));
    if (F.defined() && !options_.signal.is_modulatory())
      step.pull_future(static_cast<int>(g), at_anchor(group, F), leaf_gradients);
    if (const Tensor D = transition(step, static_cast<int>(g)); D.defined()) past[g] = transposed(D, lambdas[g]);
    if (now.O[g].defined()) past[g] = add_defined(past[g], widened(group, now.O[g]));
    if (options_.kappa > 0) filter.push_back(options_.kappa * add_defined(L, at.adjoint[n + g]));
  }
  if (options_.signal.is_modulatory()) step.forget_traced(now.inputs);
  if (!options_.signal.is_symmetric())
    for (const TraceSite& site : trace_sites(graph)) {
      const Tensor seen = options_.signal.is_modulatory()
                              ? lambdas[site.group]
                              : widened(group_of(step, site), given[site.group] - now.L[site.group]);
      add_contracted(step, site, seen, instantaneous(step, site), leaf_gradients);
    }
  step.add_to_inputs(leaf_gradients, now.inputs);
  return {now.inputs, concatenated(past, filter)};
}

void ParamDimRule::enter(Step& first, const Tensors& memory, const Tensors& adjoint, Tensors& leaf_gradients) const {
  const Layout l = layout(first.graph());
  const size_t n = first.graph().hidden_groups.size(), N = l.sites.size();
  for (size_t i = 0; i < N; ++i) {
    add_remembered(first, l, i, adjoint[l.sites[i].group], memory, leaf_gradients);
    if (options_.kappa > 0)
      add_contracted(first, l.sites[i], adjoint[n + l.sites[i].group], memory[N + i], leaf_gradients);
  }
}

Tensor ParamDimRule::transition(Step& step, int group) const {
  if (!options_.leak) return step.D(group);
  if (*options_.leak == 0) return {};
  const HiddenGroup& g = step.graph().hidden_groups[group];
  return broadcast_to(*options_.leak * eye(g.num_state, state_dtype(step.graph(), g)),
                      g.on_positions({g.num_state, g.num_state}));
}

Tensor ParamDimRule::propagated(Step& step, const TraceSite& site, const Tensor& eps) const {
  const Tensor D = transition(step, site.group);
  if (!D.defined()) return {};
  return propagate(site.call, site.weight, convert(as_output(site.call, group_of(step, site), D), eps.dtype()), eps);
}

Tensor ParamDimRule::instantaneous(Step& step, const TraceSite& site) const {
  return step.over_substeps(site.relation, site.connection, [&](const Tensor& D_f, const Tensors& operands) {
    const HiddenGroup& g     = group_of(step, site);
    const Tensor       wide  = from_anchor(g, D_f);
    const Tensor       term  = instant(site.call, site.weight, operands, as_output(site.call, g, wide));
    Shape              shape = trace_shape(site.call, site.weight);
    shape.push_back(wide.shape().back());
    return broadcast_to(term, shape);
  });
}

Tensor ParamDimRule::tail_of(Step& step, const TraceSite& site) const {
  const Tensor& D_f = step.D_f(site.relation, site.connection);
  return D_f.defined() ? from_anchor(group_of(step, site), D_f) : Tensor();
}

void ParamDimRule::add_remembered(Step& step, const Layout& l, size_t i, const Tensor& ell, const Tensors& memory,
                                  Tensors& leaf_gradients) const {
  if (!l.is_factored(i)) return add_contracted(step, l.sites[i], ell, memory[i], leaf_gradients);
  if (!ell.defined()) return;
  const TraceSite& site  = l.sites[i];
  const EtpRules&  rules = *site.call.op->etp;
  const Tensor     q =
      as_output(site.call, group_of(step, site), sum(ell * convert(memory[l.tail[i]], ell.dtype()), Ints{-1}));
  const Tensor x = convert(squeeze(memory[i], {-1}), ell.dtype());
  const Tensor g =
      rules.fold(site.call, site.weight, step.operands(site.relation), x * rules.spread(site.call, site.weight, q));
  step.add_operand_gradient(site.relation, site.trainable, g, leaf_gradients);
}

void ParamDimRule::add_contracted(Step& step, const TraceSite& site, const Tensor& ell, const Tensor& eps,
                                  Tensors& leaf_gradients) const {
  if (!eps.defined() || !ell.defined()) return;
  const Tensor l = as_output(site.call, group_of(step, site), ell);
  const Tensor g = contract(site.call, site.weight, step.operands(site.relation), l, convert(eps, l.dtype()));
  step.add_operand_gradient(site.relation, site.trainable, g, leaf_gradients);
}

}  // namespace braintrace
