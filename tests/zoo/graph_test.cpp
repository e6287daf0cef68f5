// SPDX-License-Identifier: Apache-2.0
// Graphs of layers: the order of a step, what a cycle brings from the step before, and what fails with an error.
#include "braintrace/zoo/graph.h"

#include <gtest/gtest.h>

#include "braintrace/model/random_stream.h"
#include "braintrace/nn/neuron.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/random.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/zoo/model.h"
#include "tests/support/error_of.h"

namespace braintrace::zoo {

namespace {

const char* recurrent = R"({"type": "graph", "in_size": [2],
  "nodes": [{"name": "rec", "type": "linear", "n_in": 3, "n_out": 3}, {"name": "lif", "type": "lif", "n": 3, "V_th": 0.3},
            {"name": "w", "type": "linear", "n_in": 2, "n_out": 3}],
  "edges": [["input", "w"], ["w", "lif"], ["lif", "rec"], ["rec", "lif"], ["lif", "output"], ["w", "output"]]})";

TEST(Graph, ACycleBringsTheSpikesOfTheStepBefore) {
  random::seed(1);
  const auto model = build_model(recurrent);
  init_all_states(*model);
  const auto map = [&](const char* name, const Tensor& x) {
    const State p = model->state_at({name, "weight"});
    return sum(expand_dims(x, 1) * p.leaf("weight"), {0}) + p.leaf("bias");
  };
  nn::LIF twin(3, {.V_th = 0.3, .dt = 1.0});
  init_all_states(twin);
  double fired = 0;
  for (int t = 0; t < 30; ++t) {
    const Tensor x    = 6 * random::normal(random::key(static_cast<uint64_t>(t)), {2});
    const Tensor want = twin(map("w", x) + map("rec", twin.spikes()));
    const Tensor got  = (*model)(x);
    EXPECT_LT(max(abs(got - (want + map("w", x)))).item(), 1e-5) << "step " << t;
    fired += sum(want).item();
  }
  EXPECT_GT(fired, 5);
}

// An image of 2 × 2 and three numbers, side by side.
TEST(Graph, PartsOfTheInputGoTheirOwnWays) {
  const auto model = build_model(R"({"type": "graph", "in_size": [7],
    "nodes": [{"name": "touch", "type": "part", "size": 3}, {"name": "w", "type": "linear", "n_in": 3, "n_out": 1},
              {"name": "sight", "type": "part", "first": 3, "size": [2, 2, 1]}, {"name": "mean", "type": "mean_pool_hw"}],
    "edges": [["input", "touch"], ["touch", "w"], ["w", "output"], ["input", "sight"], ["sight", "mean"], ["mean", "output"]]})");
  model->state_at({"w", "weight"}).set_leaf("weight", Tensor(Array::of<float>({1, 10, 100}, {3, 1})));
  for (const BatchSize batch : {BatchSize(), BatchSize(2)}) {
    init_all_states(*model, {.batch_size = batch});
    const Tensor x = Tensor(Array::of<float>({1, 2, 3, 1, 2, 3, 6}, {7}));
    const Tensor y = (*model)(batch ? broadcast_to(x, {2, 7}) : x);
    EXPECT_EQ(y.shape(), batch ? (Shape{2, 1}) : (Shape{1}));
    EXPECT_FLOAT_EQ(static_cast<float>(max(y).item()), 321 + 3);
  }
  const auto part = [](const std::string& fields) {
    return error_of([&] { (*build_model(R"({"type": "part", )" + fields + "}"))(zeros({4})); });
  };
  EXPECT_NE(part(R"("first": 2, "size": 3)").find("features 2 to 4 of f32[4]"), std::string::npos);
  EXPECT_NE(part(R"("first": -1, "size": 3)").find("first"), std::string::npos);
  EXPECT_NE(part(R"("size": [0])").find("size"), std::string::npos);
  EXPECT_NE(part(R"("size": [1000000, 1000000, 1000000, 1000000])").find("size"), std::string::npos);
}

TEST(Graph, OrderAndLateEdges) {
  // input → a → b → c, c → a, b → b; a and c are populations, b stands between
  const GraphOrder o = graph_order({"a", "b", "c"}, {true, false, true}, {{0, 1}, {1, 2}, {2, 0}}, {0});
  EXPECT_EQ(o.nodes, (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(o.late, (std::vector<std::pair<size_t, size_t>>{{2, 0}}));
  const GraphOrder self = graph_order({"a"}, {true}, {{0, 0}}, {0});
  EXPECT_EQ(self.late, (std::vector<std::pair<size_t, size_t>>{{0, 0}}));
}

TEST(Graph, WhatIsRefused) {
  const auto refused = [](const std::string& edges, std::initializer_list<const char*> phrases) {
    const std::string message = error_of([&] {
      build_model(
          R"({"type": "graph", "nodes": [{"name": "a", "type": "glu"}, {"name": "b", "type": "glu"}], "edges": )" +
          edges + "}");
    });
    for (const char* p : phrases) EXPECT_NE(message.find(p), message.npos) << "'" << p << "' is not in: " << message;
  };
  refused(R"([["input", "a"], ["a", "b"], ["b", "a"], ["b", "output"]])", {"a, b", "cycle without a population"});
  refused(R"([["input", "a"], ["a", "output"]])", {"'b'", "cannot be reached"});
  refused(R"([["input", "a"], ["a", "b"]])", {"none leads to 'output'"});
  refused(R"([["input", "a"], ["a", "c"]])", {"no node 'c'", "input, a, b, output"});
  refused(R"([["input", "a"], ["output", "a"]])", {"wrong direction"});
  refused(R"([["input"]])", {"edges", "[from, to]"});
}

}  // namespace

}  // namespace braintrace::zoo
