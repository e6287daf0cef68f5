// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/e_prop.h"

#include "braintrace/algorithms/param_trace.h"
#include "braintrace/ops/math.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

EPropRule::EPropRule(double kappa) : kappa_(kappa) {
  require(kappa >= 0 && kappa < 1, "EProp: kappa must be in [0, 1), got {}.", kappa);
}

Types EPropRule::memory(const ETraceGraph& graph) const {
  Types types = param_trace_types(graph), both = types;
  both.insert(both.end(), types.begin(), types.end());
  return both;
}

Tensors EPropRule::advance(Step& step, const Tensors& memory) const {
  const auto sites = trace_sites(step.graph());
  Tensors    eps, filtered;
  for (size_t i = 0; i < sites.size(); ++i) {
    eps.push_back(sum_or_zero(propagated(step, sites[i], memory[i]), instantaneous(step, sites[i]), memory[i].type()));
    filtered.push_back(kappa_ * memory[sites.size() + i] + eps[i]);
  }
  return concatenated(eps, filtered);
}

void EPropRule::credit(Step& step, const Tensors&, const Tensors& after, const Tensors& L,
                       Tensors& leaf_gradients) const {
  const auto sites = trace_sites(step.graph());
  for (size_t i = 0; i < sites.size(); ++i) {
    const Tensor now  = instantaneous(step, sites[i]);
    const Tensor past = now.defined() ? after[sites.size() + i] - now : after[sites.size() + i];
    add_contracted(step, sites[i], L, past, leaf_gradients);
  }
}

}  // namespace braintrace
