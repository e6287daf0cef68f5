// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/param_dim.h"

#include "braintrace/base/pack.h"
#include "braintrace/executor/blocks.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace {

ParamDimRule::ParamDimRule(std::string name, ParamDimOptions options)
    : ParamDimRule(
          RuleFacts{.name = std::move(name), .coupled = options.coupled, .reads_output = options.signal.reads_output()},
          options) {}

ParamDimRule::ParamDimRule(RuleFacts facts, ParamDimOptions options)
    : LearningRule(std::move(facts)), options_(std::move(options)) {
  require(options_.kappa >= 0 && options_.kappa < 1, "{}: the filter decay must be in [0, 1), got {}.", name(),
          options_.kappa);
  if (options_.leak)
    require(*options_.leak >= 0 && *options_.leak < 1, "{}: a decay must be in [0, 1), got {}.", name(),
            *options_.leak);
  if (options_.trace_dtype)
    require(is_float(*options_.trace_dtype), "{}: trace_dtype must be a float type, got {}.", name(),
            name_of(*options_.trace_dtype));
}

// ε_t = D_t ε_{t-1} + D_f,t ⊗ ∂y_t/∂w, with D replaced by the leak if there is one
std::optional<TraceRecursion> ParamDimRule::recursion() const {
  TraceRecursion out{.kappa = options_.kappa, .dtype = options_.trace_dtype};
  if (!options_.leak) return out;
  const double leak = *options_.leak;
  out.forgets       = [leak](const HiddenGroup&) { return leak == 0; };
  out.D             = [leak](Step& step, int group) -> Tensor {
    if (leak == 0) return {};
    const HiddenGroup& g = step.graph().hidden_groups[group];
    return broadcast_to(leak * eye(g.num_state, state_dtype(step.graph(), g)),
                                    g.on_positions({g.num_state, g.num_state}));
  };
  return out;
}

ParamDimRule::Adjoint<Types> ParamDimRule::adjoints(const ETraceGraph& graph) const {
  Types past;
  for (const HiddenGroup& g : graph.hidden_groups)
    past.push_back({state_dtype(graph, g), g.on_positions({g.trace_state_width()})});
  return {past, options_.kappa > 0 ? past : Types()};
}
Types ParamDimRule::adjoint(const ETraceGraph& graph) const { return joined(adjoints(graph)); }

// ∇_t: s_t + Pull_t(F_t) + (L'_t − L_t) · D_f,t ⊗ ∂y_t/∂w; passes D_tᵀ λ_t + O_t and κ μ_t to the previous step
Retreat ParamDimRule::retreat(Step& step, const StepBack& at) const {
  const ETraceGraph&     graph  = step.graph();
  const TraceRecursion   r      = *recursion();
  const Adjoint<Tensors> future = split(at.adjoint, adjoints(graph));
  Step::SameStep         now    = step.pull(at.ct);
  const Tensors          given  = options_.signal.received(step, now.L, at.ct, at.aux);  // L'
  const bool             is_mod = options_.signal.is_modulatory();
  Tensors                leaf_gradients(graph.module_info.weights.size()), lambda;
  Adjoint<Tensors>       back;
  for (const HiddenGroup& g : graph.hidden_groups) {
    const Tensor L  = r.widen(g, given[g.index]);
    const Tensor mu = options_.kappa > 0 ? future.filter[g.index] : Tensor();  // κ μ_{t+1}
    const Tensor F  = add_defined(future.past[g.index], mu);
    lambda.push_back(add_defined(L, F));
    if (F.defined() && !is_mod) step.pull_future(g.index, r.at_place(g, F), leaf_gradients);
    const Tensor D = r.D(step, g.index);
    Tensor       past;
    if (D.defined()) past = transposed(D, lambda.back());
    if (now.O[g.index].defined()) past = add_defined(past, r.widen(g, now.O[g.index]));
    back.past.push_back(past);
    if (options_.kappa > 0) back.filter.push_back(options_.kappa * add_defined(L, mu));
  }
  if (is_mod) step.forget_traced(now.inputs);
  if (!options_.signal.is_symmetric()) {
    const Traces traces(graph, r);
    for (size_t i = 0; i < traces.sites().size(); ++i) {
      const HiddenGroup& g = graph.hidden_groups[traces.sites()[i].group];
      traces.add_instant(step, i, is_mod ? lambda[g.index] : r.widen(g, given[g.index] - now.L[g.index]),
                         leaf_gradients);
    }
  }
  step.add_to_inputs(leaf_gradients, now.inputs);
  return {now.inputs, joined(back)};
}

// (D_aᵀ λ_a + O_a) · ε_{a-1} + κ μ_a · ē_{a-1}
void ParamDimRule::enter(Step& first, const Tensors& memory, const Tensors& adjoint, Tensors& leaf_gradients) const {
  const Traces           traces(first.graph(), *recursion());
  const Adjoint<Tensors> back = split(adjoint, adjoints(first.graph()));
  for (size_t i = 0; i < traces.sites().size(); ++i) {
    const int group = traces.sites()[i].group;
    traces.add_trace(first, i, back.past[group], memory, leaf_gradients);
    if (options_.kappa > 0) traces.add_filter(first, i, back.filter[group], memory, leaf_gradients);
  }
}

}  // namespace braintrace
