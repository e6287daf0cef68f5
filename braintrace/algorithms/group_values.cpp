// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/group_values.h"

namespace braintrace {

StateMap hidden_states_of(const ETraceGraph& graph) {
  StateMap out;
  for (const HiddenVar& h : graph.module_info.hidden) out.emplace_back(h.path, h.state);
  return out;
}

Tensors hidden_per_group(const ETraceGraph& graph) {
  return per_group(graph, [](const HiddenVar& h) { return h.state.value(); });
}

}  // namespace braintrace
