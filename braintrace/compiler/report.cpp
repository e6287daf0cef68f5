// SPDX-License-Identifier: Apache-2.0
// The graph as text: hidden groups, weights and the groups they reach, and the other weights.
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/compiler/graph.h"

namespace braintrace {

std::string show_graph(const ETraceGraph& graph) {
  std::string out = std::string(120, '=') + "\nThe hidden groups are:\n\n";
  for (const HiddenGroup& g : graph.hidden_groups) {
    std::string paths;
    for (const Path& p : g.hidden_paths) paths += (paths.empty() ? "" : ", ") + p.tuple();
    out += fmt::format("   Group {}: [{}]\n", g.index, paths);
  }
  out += "\n\nThe weights associated with hidden states are:\n\n";
  std::set<Path> listed;
  int            n = 0;
  for (const auto& r : graph.hidden_param_op_relations) {
    listed.insert(r.weight_path);
    const char* plural = r.hidden_groups.size() > 1 ? "s" : "";
    out +=
        fmt::format("   Weight {}: {} through {} to hidden group{} {}{}\n", n++, r.weight_path.tuple(), r.primitive(),
                    plural, fmt::join(r.hidden_groups, ", "), r.carries_trace() ? "" : " (inside a window)");
  }
  std::string rest;
  n = 0;
  std::set<Path> others;
  for (const WeightVar& w : graph.module_info.weights)
    if (!listed.count(w.path)) others.insert(w.path);
  for (const Path& p : others) rest += fmt::format("   Weight {}: {}\n", n++, p.tuple());
  if (!rest.empty()) out += "\n\nThe other weights, with their same-step gradient, are:\n\n" + rest;
  return out + "\n";
}

}  // namespace braintrace
