// SPDX-License-Identifier: Apache-2.0
// The passes, in order.
#include "braintrace/compiler/graph.h"

namespace braintrace {

const HiddenGroup& ETraceGraph::group_of(const Path& hidden_path) const {
  for (const HiddenGroup& g : hidden_groups)
    for (const Path& p : g.hidden_paths)
      if (p == hidden_path) return g;
  fail("there is no hidden state '{}' in the graph.", hidden_path.str());
}

ETraceGraph compile_etrace_graph(Module& model, const Types& args) {
  ETraceGraph graph;
  graph.module_info = extract_module_info(model, args);
  const Flow flow(graph.module_info.program());
  graph.hidden_groups             = find_hidden_groups(graph.module_info, flow, graph.diagnostics);
  graph.hidden_param_op_relations = find_relations(graph.module_info, flow, graph.hidden_groups, graph.diagnostics);
  return graph;
}

}  // namespace braintrace
