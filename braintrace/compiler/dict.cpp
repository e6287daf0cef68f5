// SPDX-License-Identifier: Apache-2.0
// Compiler records as named values, with the field order of the reference.
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

const Dict::Entry& Dict::at(const std::string& name) const {
  for (const Entry& e : entries_)
    if (e.name == name) return e;
  fail("dict: there is no '{}'; known: {}.", name, fmt::join(keys(), ", "));
}

std::vector<std::string> Dict::keys() const {
  std::vector<std::string> out;
  for (const Entry& e : entries_) out.push_back(e.name);
  return out;
}

Dict ModuleInfo::dict() const {
  std::vector<Path> hidden_paths, weight_paths, all;
  for (const HiddenVar& h : hidden) hidden_paths.push_back(h.path);
  for (const WeightVar& w : weights)
    if (weight_paths.empty() || weight_paths.back() != w.path) weight_paths.push_back(w.path);
  for (const auto& entry : states) all.push_back(entry.first);
  return Dict()
      .add("jaxpr", print(program()), program())
      .add("states", list(all), states)
      .add("hidden_paths", list(hidden_paths), hidden_paths)
      .add("weight_paths", list(weight_paths), weight_paths)
      .add("num_var_out", fmt::to_string(step.num_results), step.num_results)
      .add("num_var_state", fmt::to_string(step.writes.size()), step.writes.size());
}

std::vector<std::string> HiddenGroup::state_names() const {
  std::vector<std::string> out;
  for (const HiddenVar& h : hidden)
    for (int slot = 0; slot < h.num_state; ++slot) {
      const auto& names = h.state.slots();
      out.push_back(!h.stacked      ? h.path.str()
                    : names.empty() ? fmt::format("{}[{}]", h.path.str(), slot)
                                    : fmt::format("{}.{}", h.path.str(), names[static_cast<size_t>(slot)]));
    }
  return out;
}

Dict HiddenGroup::dict() const {
  return Dict()
      .add("index", fmt::to_string(index), index)
      .add("hidden_paths", list(hidden_paths), hidden_paths)
      .add("varshape", to_string(varshape), varshape)
      .add("num_state", fmt::to_string(num_state), num_state)
      .add("transition", print(transition.program), transition.program)
      .add("is_diagonal_recurrence", is_diagonal_recurrence ? "true" : "false", is_diagonal_recurrence)
      .add("snap", snap ? fmt::format("n = {}, {} neighbors", snap->n, snap->width) : "none", snap)
      .add("descent", descent ? fmt::format("{} substeps", descent->length) : "none", descent);
}

Dict HiddenParamOpRelation::dict() const {
  std::vector<Path>        connected;
  std::vector<PathClass>   classes;
  std::vector<std::string> names, keys;
  for (const Connection& c : connections)
    for (size_t i = 0; i < c.hidden_paths.size(); ++i) {
      connected.push_back(c.hidden_paths[i]);
      classes.push_back(c.path_classification[i]);
      names.emplace_back(name_of(c.path_classification[i]));
    }
  for (const Trainable& t : trainables) keys.push_back(t.key);
  return Dict()
      .add("primitive", primitive(), primitive())
      .add("weight_path", weight_path.tuple(), weight_path)
      .add("trainable", fmt::format("[{}]", fmt::join(keys, ", ")), keys)
      .add("hidden_groups", fmt::format("[{}]", fmt::join(group_indices(), ", ")), hidden_groups)
      .add("connected_hidden_paths", list(connected), connected)
      .add("path_classification", fmt::format("[{}]", fmt::join(names, ", ")), classes)
      .add("control_flow_context", descent ? fmt::format("{} substeps", descent->length) : "none", descent);
}

Dict HiddenPerturbation::dict() const {
  return Dict()
      .add("perturb_hidden_paths", list(hidden_paths), hidden_paths)
      .add("perturb_jaxpr", print(program), program);
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
  return Dict()
      .add("module_info", fmt::format("{} equations", module_info.program().eqns.size()), module_info)
      .add("hidden_groups", groups, hidden_groups)
      .add("hid_path_to_group", groups_of_paths, hid_path_to_group)
      .add("hidden_param_op_relations", relations, hidden_param_op_relations)
      .add("hidden_perturb", hidden_perturb ? list(hidden_perturb->hidden_paths) : "none", hidden_perturb)
      .add("diagnostics", fmt::format("{} records", diagnostics.size()), diagnostics);
}

std::vector<std::string> ETraceGraph::fields() const { return dict().keys(); }

}  // namespace braintrace
