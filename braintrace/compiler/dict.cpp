// SPDX-License-Identifier: Apache-2.0
// Records of the compiler as named texts, in the order the reference lists their fields.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/compiler/graph.h"

namespace braintrace {

namespace {

std::string list(const std::vector<Path>& paths) {
  std::string out;
  for (const Path& p : paths) out += (out.empty() ? "" : ", ") + p.tuple();
  return "[" + out + "]";
}

}  // namespace

Dict ModuleInfo::dict() const {
  std::vector<Path> hidden_paths, weight_paths, all;
  for (const HiddenVar& h : hidden) hidden_paths.push_back(h.path);
  for (const WeightVar& w : weights)
    if (weight_paths.empty() || weight_paths.back() != w.path) weight_paths.push_back(w.path);
  for (const auto& entry : states) all.push_back(entry.first);
  return {{"jaxpr", print(program())},
          {"states", list(all)},
          {"hidden_paths", list(hidden_paths)},
          {"weight_paths", list(weight_paths)},
          {"num_var_out", fmt::to_string(step.num_results)},
          {"num_var_state", fmt::to_string(step.writes.size())}};
}

Dict HiddenGroup::dict() const {
  return {{"index", fmt::to_string(index)},
          {"hidden_paths", list(hidden_paths)},
          {"varshape", to_string(varshape)},
          {"num_state", fmt::to_string(num_state)},
          {"transition", print(transition.program)},
          {"is_diagonal_recurrence", is_diagonal_recurrence ? "true" : "false"},
          {"snap", snap ? fmt::format("n = {}, {} neighbours", snap->n, snap->width) : "none"},
          {"descent", descent ? fmt::format("{} substeps", descent->length) : "none"}};
}

Dict HiddenParamOpRelation::dict() const {
  std::vector<Path>        connected;
  std::vector<std::string> classes, keys;
  for (const Connection& c : connections)
    for (size_t i = 0; i < c.hidden_paths.size(); ++i) {
      connected.push_back(c.hidden_paths[i]);
      classes.emplace_back(name_of(c.path_classification[i]));
    }
  for (const Trainable& t : trainables) keys.push_back(t.key);
  return {{"primitive", primitive()},
          {"weight_path", weight_path.tuple()},
          {"trainable", fmt::format("[{}]", fmt::join(keys, ", "))},
          {"hidden_groups", fmt::format("[{}]", fmt::join(hidden_groups, ", "))},
          {"connected_hidden_paths", list(connected)},
          {"path_classification", fmt::format("[{}]", fmt::join(classes, ", "))},
          {"control_flow_context", descent ? fmt::format("{} substeps", descent->length) : "none"}};
}

Dict HiddenPerturbation::dict() const {
  return {{"perturb_hidden_paths", list(hidden_paths)}, {"perturb_jaxpr", print(program)}};
}

Dict ETraceGraph::dict() const {
  std::string groups_of_paths, groups, relations;
  for (const HiddenGroup& g : hidden_groups) {
    groups += (groups.empty() ? "" : ", ") + list(g.hidden_paths);
    for (const Path& p : g.hidden_paths)
      groups_of_paths += fmt::format("{}{}: {}", groups_of_paths.empty() ? "" : ", ", p.tuple(), g.index);
  }
  for (const HiddenParamOpRelation& r : hidden_param_op_relations)
    relations += fmt::format("{}{} of {}", relations.empty() ? "" : ", ", r.primitive(), r.weight_path.tuple());
  return {{"module_info", fmt::format("{} equations", module_info.program().eqns.size())},
          {"hidden_groups", groups},
          {"hid_path_to_group", groups_of_paths},
          {"hidden_param_op_relations", relations},
          {"hidden_perturb", hidden_perturb ? list(hidden_perturb->hidden_paths) : "none"},
          {"diagnostics", fmt::format("{} records", diagnostics.size())}};
}

std::vector<std::string> ETraceGraph::fields() const {
  std::vector<std::string> out;
  for (const auto& entry : dict()) out.push_back(entry.first);
  return out;
}

}  // namespace braintrace
