// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/d_rtrl.h"

#include "braintrace/algorithms/param_trace.h"

namespace braintrace {

Types DRtrlRule::memory(const ETraceGraph& graph) const { return param_trace_types(graph); }

Tensors DRtrlRule::advance(Step& step, const Tensors& eps) const {
  const auto sites = trace_sites(step.graph());
  Tensors    next;
  for (size_t i = 0; i < sites.size(); ++i)
    next.push_back(sum_or_zero(propagated(step, sites[i], eps[i]), instantaneous(step, sites[i]), eps[i].type()));
  return next;
}

void DRtrlRule::credit(Step& step, const Tensors& before, const Tensors&, const Tensors& L,
                       Tensors& leaf_gradients) const {
  const auto sites = trace_sites(step.graph());
  for (size_t i = 0; i < sites.size(); ++i)
    add_contracted(step, sites[i], L, propagated(step, sites[i], before[i]), leaf_gradients);
}

}  // namespace braintrace
