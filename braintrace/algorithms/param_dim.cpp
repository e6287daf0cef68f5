// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/param_dim.h"

#include "braintrace/control/nested.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

const HiddenGroup& group_of(const Step& step, const TraceSite& site) { return step.graph().hidden_groups[site.group]; }

// Dᵀ λ : [*varshape,W]
Tensor transposed(const Tensor& D, const Tensor& lambda) { return sum(D * expand_dims(lambda, -1), Ints{-2}); }

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

MemorySlots ParamDimRule::memory(const ETraceGraph& graph) const {
  MemorySlots out;
  for (const char* kind : {"trace", "filter"}) {
    if (kind == std::string("filter") && options_.kappa == 0) break;
    for (const TraceSite& site : trace_sites(graph)) {
      Shape shape = trace_shape(site.call, site.weight);
      shape.push_back(width(graph.hidden_groups[site.group]));
      out.push_back({{options_.trace_dtype.value_or(site.call.y.dtype), std::move(shape)},
                     kind,
                     site.relation,
                     site.group,
                     site.trainable});
    }
  }
  return out;
}

Tensors ParamDimRule::advance(Step& step, const Tensors& memory, const Tensors&) const {
  const auto sites = trace_sites(step.graph());
  Tensors    eps, filtered;
  for (size_t i = 0; i < sites.size(); ++i) {
    const Tensor sum = add_defined(propagated(step, sites[i], memory[i]), instantaneous(step, sites[i]));
    eps.push_back(sum.defined() ? convert(sum, memory[i].dtype()) : Tensor(memory[i].type(), 0));
    if (options_.kappa > 0) filtered.push_back(options_.kappa * memory[sites.size() + i] + eps[i]);
  }
  return concatenated(eps, filtered);
}

void ParamDimRule::recall(Step& step, const Tensors& memory, const Tensors& credit, Tensors& leaf_gradients) const {
  const auto sites = trace_sites(step.graph());
  for (size_t i = 0; i < sites.size(); ++i)
    if (const Tensor& c = credit[sites[i].group]; c.defined())
      add_contracted(step, sites[i], widened(group_of(step, sites[i]), c), memory[i], leaf_gradients);
}

Types ParamDimRule::adjoint(const ETraceGraph& graph) const {
  Types out;
  for (const HiddenGroup& g : graph.hidden_groups) out.push_back({state_dtype(graph, g), g.on_positions({width(g)})});
  return options_.kappa > 0 ? joined(out, out) : out;
}

Retreat ParamDimRule::retreat(Step& step, const StepBack& at) const {
  const ETraceGraph& graph = step.graph();
  const size_t       n     = graph.hidden_groups.size();
  Step::SameStep     now   = step.pull(at.ct);
  const Tensors      given = options_.signal.received(graph, now.L, at.ct, at.aux);  // L'
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
  const auto   sites = trace_sites(first.graph());
  const size_t n     = first.graph().hidden_groups.size();
  for (size_t i = 0; i < sites.size(); ++i) {
    add_contracted(first, sites[i], adjoint[sites[i].group], memory[i], leaf_gradients);
    if (options_.kappa > 0)
      add_contracted(first, sites[i], adjoint[n + sites[i].group], memory[sites.size() + i], leaf_gradients);
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

void ParamDimRule::add_contracted(Step& step, const TraceSite& site, const Tensor& ell, const Tensor& eps,
                                  Tensors& leaf_gradients) const {
  if (!eps.defined() || !ell.defined()) return;
  const Tensor l = as_output(site.call, group_of(step, site), ell);
  const Tensor g = contract(site.call, site.weight, step.operands(site.relation), l, convert(eps, l.dtype()));
  step.add_operand_gradient(site.relation, site.trainable, g, leaf_gradients);
}

}  // namespace braintrace
