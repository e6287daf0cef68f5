// SPDX-License-Identifier: Apache-2.0
// Every layer type with every size 1: inputs, units, batch and steps. It runs in every precision and keeps its types;
// learning rules run on it step by step and in windows, and RTRL is exact.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/compiler/graph.h"
#include "braintrace/fidelity/fidelity.h"
#include "braintrace/functions/functions.h"
#include "braintrace/io/file.h"
#include "braintrace/model/environment.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/verify/layers/layers.h"

namespace braintrace::zoo {

namespace {

using nlohmann::json;

// Every layer type as tests/data/smallest.json describes it, with the input of one sample; tests/project sweeps the
// command line over the same.
const std::map<std::string, json>& descriptions() {
  static const std::map<std::string, json> all = [] {
    std::map<std::string, json> out;
    for (const json& e : json::parse(read_text(BRAINTRACE_SOURCE_DIR "/tests/data/smallest.json")))
      out[e["model"]["type"]] = e;
    return out;
  }();
  return all;
}

// Such as "f32[1,1]": an element type and sizes.
Type input_of(const std::string& type, DType dtype) {
  const std::string text = descriptions().at(type)["input"];
  Shape             shape;
  for (const json& n : json::parse(text.substr(text.find('[')))) shape.push_back(n);
  return {text.starts_with("i32") ? DType::I32 : dtype, shape};
}

Type batched(Type type, const BatchSize& batch) {
  if (batch) type.shape.insert(type.shape.begin(), *batch);
  return type;
}

// Those of users, and those of recorded cases.
const std::vector<LayerType>& all_types() {
  static const std::vector<LayerType> all = [] {
    std::vector<LayerType> types = layer_types();
    types.insert(types.end(), golden::recorded_layers().begin(), golden::recorded_layers().end());
    return types;
  }();
  return all;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const LayerType& t : all_types()) names.push_back(t.name);
  return names;
}

TEST(SmallestModels, AreDescribedForEveryType) {
  const std::vector<std::string> names = type_names();
  EXPECT_EQ(descriptions().size(), names.size());
  for (const std::string& name : names) EXPECT_TRUE(descriptions().contains(name)) << name;
}

// Some layers are defined on batches only.
bool needs_batch(const std::string& type) {
  return type == "batch_norm" || type == "group_norm" || type == "einsum_rnn";
}

struct Smallest : testing::TestWithParam<std::string> {
  const LayerType& type() const {
    const auto& all = all_types();
    return *std::find_if(all.begin(), all.end(), [](const LayerType& t) { return t.name == GetParam(); });
  }
  std::shared_ptr<Module> model(const BatchSize& batch) const {
    random::seed(1);
    auto m = golden::described_model(descriptions().at(GetParam())["model"]);
    init_all_states(*m, {.batch_size = batch});
    return m;
  }
};

TEST_P(Smallest, RunsInEveryPrecision) {
  for (DType dtype : {DType::F64, DType::F32, DType::F16, DType::BF16}) {
    SCOPED_TRACE(name_of(dtype));
    const Environment::Scope scope({.dt = 1, .precision = dtype});
    const auto               m = model(1);
    std::map<Path, Type>     before;
    for (const auto& [path, state] : m->states())
      for (const std::string& leaf : state.leaf_names()) before[path / leaf] = state.leaf(leaf).type();
    const Type   in = batched(input_of(type().name, dtype), 1);
    const Tensor x(in, is_float(in.dtype) ? 0.5 : 0);
    const Tensor y = (*m)(x);
    EXPECT_TRUE(y.dtype() == dtype || !is_float(y.dtype())) << name_of(y.dtype());
    if (dtype == DType::F32) {
      EXPECT_EQ(jit([&](const Tensor& v) { return (*m)(v); })(x).type(), y.type());
    }
    for (const auto& [path, state] : m->states())
      for (const std::string& leaf : state.leaf_names())
        EXPECT_EQ(state.leaf(leaf).type(), before[path / leaf]) << (path / leaf).str();
  }
}

// One rule in turn beside RTRL, with and without a batch in turn.
TEST_P(Smallest, Learns) {
  const Environment::Scope scope({.dt = 1, .precision = DType::F64});
  const auto               names = type_names();
  const auto turn = static_cast<size_t>(std::find(names.begin(), names.end(), type().name) - names.begin());
  const std::vector<std::string> rules = {"D_RTRL", "ES_D_RTRL", "EProp", "OSTLRecurrent", "SnAp", "UORO", "BPTT"};
  const BatchSize                batch = turn % 2 || needs_batch(type().name) ? BatchSize{1} : BatchSize{};
  const auto                     m     = model(batch);
  if (m->params().empty() || m->states<HiddenState>().empty()) return;
  const Type           in    = batched(input_of(type().name, DType::F64), batch);
  const int64_t        steps = 1 + static_cast<int64_t>(turn % 3 > 0);
  const FidelityReport report =
      measure_fidelity(*m, type().name, in, batch,
                       {.steps = steps, .windows = {1, steps}, .rules = {"RTRL", rules[turn % rules.size()]}});
  for (const RuleFidelity& r : report.rules) {
    EXPECT_EQ(r.left_out, "") << r.rule;
    for (const Closeness& c : r.parameters) EXPECT_TRUE(std::isfinite(c.cosine)) << r.rule;
    if (r.rule != "RTRL") continue;
    EXPECT_NEAR(r.all.cosine, 1, 1e-9);
    EXPECT_NEAR(r.all.norm_ratio, 1, 1e-9);
  }
  EXPECT_EQ(report.rules.size(), 4u);
}

INSTANTIATE_TEST_SUITE_P(Zoo, Smallest, testing::ValuesIn(type_names()), [](const auto& i) { return i.param; });

}  // namespace

}  // namespace braintrace::zoo
