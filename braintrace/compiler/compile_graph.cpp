// SPDX-License-Identifier: Apache-2.0
// The passes, in order.
#include <algorithm>
#include <iterator>

#include "braintrace/compiler/control_gate.h"
#include "braintrace/compiler/graph.h"
#include "braintrace/compiler/run_step.h"
#include "braintrace/compiler/scan_descent.h"

namespace braintrace {

const HiddenGroup& GroupsByPath::at(const Path& hidden_path) const {
  if (const auto it = find(hidden_path); it != end()) return it->second;
  std::string known;
  for (const auto& [path, group] : *this) known += (known.empty() ? "" : ", ") + path.str();
  fail("there is no hidden state '{}' in the graph; known: {}.", hidden_path.str(), known);
}

bool HiddenParamOpRelation::reaches(int group) const {
  return std::any_of(connections.begin(), connections.end(), [&](const Connection& c) { return c.group == group; });
}

std::vector<int> HiddenParamOpRelation::group_indices() const {
  std::vector<int> out;
  for (const Connection& c : connections) out.push_back(c.group);
  return out;
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

StepValues ETraceGraph::call_hidden_perturb(const Tensors& args, const Tensors& perturb_data,
                                            const Tensors& old_state_vals) const {
  require(hidden_perturb.has_value(), "call_hidden_perturb: the graph was compiled without include_hidden_perturb.");
  hidden_perturb->check(perturb_data);
  ModuleInfo perturbed   = module_info;
  perturbed.step.program = hidden_perturb->program;
  return run_step(perturbed, args, old_state_vals, perturb_data);
}

namespace {

void check_options(const CompileOptions& options) {
  require(options.control_flow.fixpoint_iteration_limit >= 1,
          "compile options: fixpoint_iteration_limit must be at least 1, got {}.",
          options.control_flow.fixpoint_iteration_limit);
  if (!options.sparse_n) return;
  require(*options.sparse_n >= 1, "compile options: sparse_n must be at least 1, got {}.", *options.sparse_n);
  require(options.include_recurrent_mixing,
          "compile options: sparse_n = {} needs include_recurrent_mixing; without products in the transition every "
          "position has one neighbor, itself.",
          *options.sparse_n);
}

ModuleInfo checked_module_info(Module& model, const Types& args, const CompileOptions& options, Diagnostics& log) {
  check_options(options);
  ModuleInfo info = extract_module_info(model, args, options, log);
  check_control_flow(info, log);
  return info;
}

// Assigns to relations the groups they reach, one object per group.
GroupsByPath share_groups(const std::vector<HiddenGroup>& groups, std::vector<HiddenParamOpRelation>& relations) {
  std::vector<SharedGroup> shared(groups.begin(), groups.end());
  for (HiddenParamOpRelation& r : relations) {
    r.hidden_groups.clear();
    for (int g : r.group_indices()) r.hidden_groups.push_back(shared[static_cast<size_t>(g)]);
  }
  GroupsByPath out;
  for (const SharedGroup& g : shared)
    for (const Path& p : g->hidden_paths) out.emplace(p, g);
  return out;
}

}  // namespace

GroupsByPath groups_by_path(const std::vector<HiddenGroup>& groups) {
  std::vector<HiddenParamOpRelation> none;
  return share_groups(groups, none);
}

ModuleInfo extract_module_info(Module& model, const StepInputs& inputs, const CompileOptions& options) {
  Diagnostics log;
  return checked_module_info(model, inputs.types, options, log);
}

std::vector<HiddenGroup> find_hidden_groups_from_minfo(const ModuleInfo& info, const CompileOptions& options) {
  Diagnostics log;
  return find_hidden_groups_from_minfo(info, options, log);
}

std::vector<HiddenParamOpRelation> find_hidden_param_op_relations_from_minfo(const ModuleInfo&               info,
                                                                             const std::vector<HiddenGroup>& groups,
                                                                             const CompileOptions&           options) {
  Diagnostics                        log;
  std::vector<HiddenParamOpRelation> relations = find_hidden_param_op_relations_from_minfo(info, groups, options, log);
  share_groups(groups, relations);
  return relations;
}

std::vector<HiddenGroup> find_hidden_groups_from_module(Module& model, const StepInputs& inputs,
                                                        const CompileOptions& options) {
  return find_hidden_groups_from_minfo(extract_module_info(model, inputs, options), options);
}

std::vector<HiddenParamOpRelation> find_hidden_param_op_relations_from_module(Module& model, const StepInputs& inputs,
                                                                              const CompileOptions& options) {
  const ModuleInfo info = extract_module_info(model, inputs, options);
  return find_hidden_param_op_relations_from_minfo(info, find_hidden_groups_from_minfo(info, options), options);
}

HiddenPerturbation add_hidden_perturbation_in_module(Module& model, const StepInputs& inputs,
                                                     const CompileOptions& options) {
  return add_hidden_perturbation_from_minfo(extract_module_info(model, inputs, options));
}

ETraceGraph compile_etrace_graph(Module& model, const StepInputs& inputs, const CompileOptions& options) {
  check_options(options);
  ETraceGraph  graph;
  Diagnostics& log       = graph.diagnostics;
  ModuleInfo&  info      = graph.module_info;
  auto&        groups    = graph.hidden_groups;
  auto&        relations = graph.hidden_param_op_relations;
  info                   = extract_module_info(model, inputs.types, options, log);
  Descended inside       = descend_scans(info, options, log);
  check_control_flow(info, log);
  groups = find_hidden_groups_from_minfo(info, options, log);
  inside.number_groups_from(static_cast<int>(groups.size()));
  std::move(inside.groups.begin(), inside.groups.end(), std::back_inserter(groups));
  relations = find_hidden_param_op_relations_from_minfo(info, groups, options, log);
  std::move(inside.relations.begin(), inside.relations.end(), std::back_inserter(relations));
  graph.hid_path_to_group = share_groups(groups, relations);
  if (options.include_hidden_perturb) graph.hidden_perturb = add_hidden_perturbation_from_minfo(info);
  return graph;
}

}  // namespace braintrace
