// SPDX-License-Identifier: Apache-2.0
#include "braintrace/verify/graph_facts.h"

#include <algorithm>

#include "braintrace/compiler/report.h"

namespace braintrace::golden {

namespace {

json strings(const std::vector<Path>& paths) {
  json out = json::array();
  for (const Path& p : paths) out.push_back(p.str());
  return out;
}

json group_facts(const HiddenGroup& g) {
  json snap;
  if (g.snap) {
    const size_t K = static_cast<size_t>(g.snap->width);
    snap           = {{"num_neighbour", K}, {"neighbours", json::array()}, {"valid", json::array()}};
    for (size_t p = 0; p * K < g.snap->neighbors.size(); ++p) {
      json neighbors = json::array(), valid = json::array();
      for (size_t k = p * K; k < (p + 1) * K; ++k) {
        neighbors.push_back(g.snap->neighbors[k]);
        valid.push_back(g.snap->valid[k] ? 1 : 0);
      }
      snap["neighbours"].push_back(neighbors);
      snap["valid"].push_back(valid);
    }
  }
  return {{"index", g.index},
          {"hidden_paths", strings(g.hidden_paths)},
          {"num_state", g.num_state},
          {"varshape", g.varshape},
          {"is_diagonal_recurrence", g.is_diagonal_recurrence},
          {"trace_state_width", g.trace_state_width()},
          {"snap", snap},
          {"descended_into_scan", g.descent != nullptr}};
}

json relation_facts(const ModuleInfo& info, const HiddenParamOpRelation& r) {
  json connected = json::array(), classes = json::object(), trainable = json::object();
  for (const Connection& c : r.connections)
    for (size_t i = 0; i < c.hidden_paths.size(); ++i) {
      connected.push_back(c.hidden_paths[i].str());
      classes[c.hidden_paths[i].str()] = name_of(c.path_classification[i]);
    }
  for (const Trainable& t : r.trainables) {
    const WeightVar& w = info.weights[static_cast<size_t>(t.leaves[0])];
    trainable[t.key]   = {{"path", w.path.str()},
                          {"leaf_index", w.leaf_index},
                          {"param", w.name()},
                          {"shape", info.program().type(w.var).shape}};
  }
  // A convolution without batch is recorded with an axis of one in its place.
  const auto shape = [&](Shape of) {
    if (r.primitive() == "etp_conv" && of.size() < r.call.in[1].shape.size()) of.insert(of.begin(), 1);
    return of;
  };
  return {{"weight_path", r.weight_path.str()},
          {"primitive", r.primitive()},
          {"hidden_group_indices", r.group_indices()},
          {"connected_hidden_paths", connected},
          {"path_classification", classes},
          {"trainable", trainable},
          {"x_shape", r.x >= 0 ? json(shape(r.call.in[static_cast<size_t>(r.call.op->etp->x)].shape)) : json()},
          {"y_shape", shape(r.call.y.shape)},
          {"inside_descended_scan", r.descent != nullptr}};
}

json module_facts(const ModuleInfo& info) {
  json   states = json::object(), retrieved = json::array(), touched = json::array(), weights = json::object();
  size_t leaves = 0;
  for (const auto& [path, state] : info.states) {
    json list = json::array();
    for (const std::string& leaf : state.leaf_names())
      list.push_back({{"leaf", leaf}, {"shape", state.leaf(leaf).shape()}});
    leaves += list.size();
    states[path.str()] = {{"class", state.is_param()    ? "param"
                                    : state.is_hidden() ? "hidden"
                                                        : "other"},
                          {"leaves", list}};
    retrieved.push_back(path.str());
  }
  const auto touch = [&](const StateLeaf& leaf) {
    const std::string path = info.path_of(leaf.state).str();
    if (std::find(touched.begin(), touched.end(), path) == touched.end()) touched.push_back(path);
  };
  for (const StateLeaf& leaf : info.step.reads) touch(leaf);
  for (const StateLeaf& leaf : info.step.writes) touch(leaf);
  std::vector<Path> hidden;
  for (const HiddenVar& h : info.hidden) hidden.push_back(h.path);
  for (const WeightVar& w : info.weights) weights[w.path.str()] = weights.value(w.path.str(), 0) + 1;
  return {{"states", states},
          {"retrieved_state_paths_in_order", retrieved},
          {"compiled_state_paths_in_order", touched},
          {"hidden_paths", strings(hidden)},
          {"weight_paths", weights},
          {"n_weight_invars", info.weights.size()},
          {"n_invars", info.step.num_args + leaves},
          {"n_outvars", info.step.num_results + leaves},
          {"num_var_out", info.step.num_results},
          {"num_var_state", leaves}};
}

json record_facts(const CompilationRecord& r) {
  return {{"kind", name_of(r.kind)},
          {"level", name_of(r.level)},
          {"primitive", r.primitive.empty() ? json() : json(r.primitive)},
          {"weight_path", r.weight_path.empty() ? json() : json(r.weight_path.str())},
          {"hidden_paths", strings(r.hidden_paths)}};
}

}  // namespace

json graph_facts(const ETraceGraph& g) {
  const CompilationReport report(g);
  const auto              counts = report.counts();
  json                    f      = {{"hidden_groups", json::array()},
                                    {"relations", json::array()},
                                    {"relations_sharing_x", json::array()},
                                    {"hid_path_to_group", json::object()},
                                    {"excluded_weights", json::array()},
                                    {"etrace_weights", json::array()},
                                    {"dynamic_states", strings(report.dynamic_states())},
                                    {"counts",
                                     {{"hidden_groups", counts.hidden_groups},
                                      {"etrace_weights", counts.etrace_weights},
                                      {"excluded_weights", counts.excluded_weights},
                                      {"warnings", counts.warnings},
                                      {"errors", counts.errors}}},
                                    {"diagnostics", json::array()},
                                    {"module_info", module_facts(g.module_info)},
                                    {"hidden_perturb", json()}};
  for (const HiddenGroup& group : g.hidden_groups) {
    f["hidden_groups"].push_back(group_facts(group));
    for (const Path& p : group.hidden_paths) f["hid_path_to_group"][p.str()] = group.index;
  }
  std::vector<Var> sources;
  for (size_t i = 0; i < g.hidden_param_op_relations.size(); ++i) {
    const HiddenParamOpRelation& r = g.hidden_param_op_relations[i];
    f["relations"].push_back(relation_facts(g.module_info, r));
    if (r.x < 0) continue;
    const auto at = static_cast<size_t>(std::find(sources.begin(), sources.end(), r.x) - sources.begin());
    if (at == sources.size()) sources.push_back(r.x), f["relations_sharing_x"].push_back(json::array());
    f["relations_sharing_x"][at].push_back(i);
  }
  for (const auto& w : report.excluded_weights())
    f["excluded_weights"].push_back({{"path", w.path.str()}, {"reason", w.reason ? json(name_of(*w.reason)) : json()}});
  for (const auto& w : report.etrace_weights())
    f["etrace_weights"].push_back({{"path", w.path.str()}, {"groups", w.hidden_groups}});
  for (const CompilationRecord& r : g.diagnostics) f["diagnostics"].push_back(record_facts(r));
  if (g.hidden_perturb) {
    json shapes = json::array();
    for (const Tensor& t : g.hidden_perturb->init_perturb_data()) shapes.push_back(t.shape());
    f["hidden_perturb"] = {{"perturbed_hidden_paths", strings(g.hidden_perturb->hidden_paths)},
                           {"perturb_shapes", shapes}};
  }
  return f;
}

}  // namespace braintrace::golden
