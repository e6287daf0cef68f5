// SPDX-License-Identifier: Apache-2.0
// The passes, in order.
#include <algorithm>

#include "braintrace/compiler/graph.h"

namespace braintrace {

const HiddenGroup& ETraceGraph::hid_path_to_group(const Path& hidden_path) const {
  std::string known;
  for (const HiddenGroup& g : hidden_groups)
    for (const Path& p : g.hidden_paths) {
      if (p == hidden_path) return g;
      known += (known.empty() ? "" : ", ") + p.str();
    }
  fail("there is no hidden state '{}' in the graph; known are: {}.", hidden_path.str(), known);
}

Diagnostics ETraceGraph::explain(const Explain& filter) const {
  Diagnostics out;
  for (const CompilationRecord& r : diagnostics) {
    if (filter.weight_path && r.weight_path != *filter.weight_path) continue;
    if (filter.kind && r.kind != *filter.kind) continue;
    if (filter.hidden_path &&
        std::find(r.hidden_paths.begin(), r.hidden_paths.end(), *filter.hidden_path) == r.hidden_paths.end())
      continue;
    out.push_back(r);
  }
  return out;
}

std::vector<std::string> ETraceGraph::fields() const {
  return {"module_info",    "hidden_groups", "hid_path_to_group", "hidden_param_op_relations",
          "hidden_perturb", "diagnostics"};
}

ETraceGraph compile_etrace_graph(Module& model, const Types& args, const CompileOptions& options) {
  if (options.sparse_n) {
    require(*options.sparse_n >= 1, "compile options: sparse_n must be at least 1, got {}.", *options.sparse_n);
    require(options.include_recurrent_mixing,
            "compile options: sparse_n = {} needs include_recurrent_mixing; without products in the transition every "
            "position has one neighbour, itself.",
            *options.sparse_n);
  }
  ETraceGraph graph;
  graph.module_info               = extract_module_info(model, args, options, graph.diagnostics);
  graph.hidden_groups             = find_hidden_groups(graph.module_info, options, graph.diagnostics);
  graph.hidden_param_op_relations = find_relations(graph.module_info, graph.hidden_groups, options, graph.diagnostics);
  if (options.include_hidden_perturb) graph.hidden_perturb = add_hidden_perturbation(graph.module_info);
  return graph;
}

}  // namespace braintrace
