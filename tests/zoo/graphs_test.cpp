// SPDX-License-Identifier: Apache-2.0
// Every recorded graph: the model built from its description has the recorded states, touched in the recorded order,
// and in reference mode the compiler finds the recorded groups and relations.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/compiler/graph.h"
#include "braintrace/zoo/model.h"

namespace braintrace {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path graphs = fs::path(BRAINTRACE_SOURCE_DIR) / "tests/data/golden/graphs";

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(graphs)) {
    const json j = json::parse(std::ifstream(entry.path()));
    if (!j["model"].is_null() && !j["compilations"]["default"].contains("error")) out.push_back(entry.path().stem());
  }
  std::sort(out.begin(), out.end());
  return out;
}

struct Recorded {
  json                    all, want;
  std::shared_ptr<Module> model;
  Types                   args;

  explicit Recorded(const std::string& name)
      : all(json::parse(std::ifstream(graphs / (name + ".json")))), want(all["compilations"]["default"]) {
    model = zoo::build_model(all["model"]);
    init_all_states(*model,
                    {.batch_size = all["batch"].is_null() ? BatchSize() : BatchSize(all["batch"].get<int64_t>())});
    Shape shape = all["x_shape"].get<Shape>();
    args        = {{all["x_dtype"] == "int" ? DType::I32 : DType::F32, shape}};
  }
};

class Graphs : public testing::TestWithParam<std::string> {};

TEST_P(Graphs, StatesHaveTheRecordedPathsLeavesAndOrder) {
  Recorded r(GetParam());
  json     states;
  for (const auto& [path, state] : r.model->states())
    for (const std::string& leaf : state.leaf_names()) states[path.str()].push_back({leaf, state.leaf(leaf).shape()});
  json recorded;
  for (const auto& [path, info] : r.want["module_info"]["states"].items())
    for (const json& leaf : info["leaves"]) recorded[path].push_back({leaf["leaf"], leaf["shape"]});
  EXPECT_EQ(states, recorded);

  const StatefulProgram    p = trace_function(r.args, [&](const Tensors& in) { return Tensors{(*r.model)(in[0])}; });
  std::vector<std::string> order;
  for (const StateLeaf& leaf : p.reads)
    for (const auto& [path, state] : r.model->states())
      if (state == leaf.state && (order.empty() || order.back() != path.str())) order.push_back(path.str());
  EXPECT_EQ(json(order), r.want["module_info"]["compiled_state_paths_in_order"]);
}

TEST_P(Graphs, ReferenceModeFindsTheRecordedGroupsAndRelations) {
  Recorded r(GetParam());
  if (GetParam() == "scan_rnn_long") {  // a limit: long scans with trainable operations are refused (docs/limits.md)
    EXPECT_THROW(compile_etrace_graph(*r.model, r.args, CompileOptions::reference()), CompileError);
    return;
  }
  const ETraceGraph g      = compile_etrace_graph(*r.model, r.args, CompileOptions::reference());
  json              groups = json::array(), recorded_groups = json::array();
  for (const HiddenGroup& group : g.hidden_groups) {
    json paths = json::array();
    for (const Path& p : group.hidden_paths) paths.push_back(p.str());
    groups.push_back({paths, group.num_state, group.varshape});
  }
  for (const json& group : r.want["hidden_groups"])
    recorded_groups.push_back({group["hidden_paths"], group["num_state"], group["varshape"]});
  EXPECT_EQ(groups, recorded_groups);

  json relations = json::array(), recorded = json::array();
  for (const HiddenParamOpRelation& rel : g.hidden_param_op_relations)
    relations.push_back({rel.weight_path.str(), rel.primitive(), rel.hidden_groups});
  for (const json& rel : r.want["relations"])
    recorded.push_back({rel["weight_path"], rel["primitive"], rel["hidden_group_indices"]});
  EXPECT_EQ(relations, recorded);
}

INSTANTIATE_TEST_SUITE_P(Golden, Graphs, testing::ValuesIn(names()), [](const auto& info) { return info.param; });

}  // namespace

}  // namespace braintrace
