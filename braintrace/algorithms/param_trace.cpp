// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/param_trace.h"

#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

const HiddenGroup& group_of(const Step& step, const TraceSite& site) { return step.graph().hidden_groups[site.group]; }

}  // namespace

Types param_trace_types(const ETraceGraph& graph) {
  Types out;
  for (const TraceSite& site : trace_sites(graph)) {
    Shape shape = trace_shape(site.call, site.weight);
    shape.push_back(graph.hidden_groups[site.group].num_state);
    out.push_back({site.call.y.dtype, std::move(shape)});
  }
  return out;
}

Tensor propagated(Step& step, const TraceSite& site, const Tensor& eps) {
  const Tensor& D = step.D(site.group);
  return D.defined() ? propagate(site.call, site.weight, as_output(site.call, group_of(step, site), D), eps) : Tensor();
}

Tensor instantaneous(Step& step, const TraceSite& site) {
  const Tensor& D_f = step.D_f(site.relation, site.connection);
  if (!D_f.defined()) return {};
  const Tensor term =
      instant(site.call, site.weight, step.operands(site.relation), as_output(site.call, group_of(step, site), D_f));
  Shape shape = trace_shape(site.call, site.weight);
  shape.push_back(D_f.shape().back());
  return broadcast_to(term, shape);
}

void add_contracted(Step& step, const TraceSite& site, const Tensors& ell, const Tensor& eps, Tensors& leaf_gradients) {
  if (!eps.defined()) return;
  const Tensor l = as_output(site.call, group_of(step, site), ell[site.group]);
  step.add_operand_gradient(site, contract(site.call, site.weight, step.operands(site.relation), l, eps),
                            leaf_gradients);
}

Tensor sum_or_zero(const Tensor& a, const Tensor& b, const Type& type) {
  const Tensor sum = add_defined(a, b);
  return sum.defined() ? sum : Tensor(type, 0);
}

}  // namespace braintrace
