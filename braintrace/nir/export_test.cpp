// SPDX-License-Identifier: Apache-2.0
// Every layer that NIR can say goes into a file and comes back with the same outputs and states; what it cannot say is
// an error that names the layer.
#include "braintrace/nir/export.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/model/random_stream.h"
#include "braintrace/nir/import.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/random.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/zoo/model.h"
#include "braintrace/zoo/weights.h"
#include "tests/support/error_of.h"

namespace braintrace::nir {

namespace {

using nlohmann::json;

std::shared_ptr<Module> made(const json& description) {
  random::seed(3);
  const auto model = zoo::build_model(description);
  uint64_t   key   = 0;
  for (const auto& [path, state] : model->params())  // biases and delays are not zero either
    for (const std::string& leaf : state.leaf_names())
      state.set_leaf(leaf, state.leaf(leaf) + 0.05 * abs(random::normal(random::key(++key), state.leaf(leaf).shape())));
  init_all_states(*model);
  return model;
}

std::shared_ptr<Module> there_and_back(const json& description, const Module& model, const Shape& input) {
  const Imported net  = import_graph(decode(encode(export_graph(description.dump(), model, input)), "memory"));
  const auto     back = zoo::build_model(net.description);
  zoo::load_weights(*back, net.weights);
  init_all_states(*back);
  return back;
}

double distance(const Tensor& a, const Tensor& b) {
  const Array x = a.array(), y = b.array();
  EXPECT_EQ(x.shape(), y.shape());
  double worst = 0;
  for (int64_t i = 0; i < std::min(x.size(), y.size()); ++i) worst = std::max(worst, std::abs(at(x, i) - at(y, i)));
  return worst;
}

struct Row {
  const char* name;
  const char* layers;  // after a linear layer of 3 inputs and 4 outputs, unless the input says otherwise
  Shape       input     = {};
  double      tolerance = 0;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class RoundTrip : public testing::TestWithParam<Row> {};

TEST_P(RoundTrip, GivesTheSameStatesAndOutputs) {
  const Row&        row   = GetParam();
  const Shape       input = row.input.empty() ? Shape{3} : row.input;
  const std::string first = row.input.empty() ? R"({"name": "in", "type": "linear", "n_in": 3, "n_out": 4}, )" : "";
  const json        description = json::parse(R"({"type": "chain", "layers": [)" + first + row.layers + "]}");
  const auto        model = made(description), back = there_and_back(description, *model, input);
  double            total  = 0;
  int               states = 0;
  for (int t = 0; t < 100; ++t) {
    const Tensor x = 2 * random::normal(random::key(static_cast<uint64_t>(t + 100)), input) + 0.5;
    const Tensor y = (*model)(x), z = (*back)(x);
    ASSERT_LE(distance(y, z), row.tolerance) << "output of step " << t;
    total += at(sum(abs(y)).array(), 0);
    for (const auto& [path, state] : back->states<HiddenState>()) {
      const StateMap all = model->states<HiddenState>();
      for (const auto& [other, twin] : all)
        if (other == path && other.str() != "a.buffer") {  // NIR does not say how long a delay may become
          ASSERT_LE(distance(state.value(), twin.value()), row.tolerance) << path.str() << " after step " << t;
          ++states;
        }
    }
  }
  EXPECT_GT(total, 2);
  if (row.tolerance == 0 && first.size() && std::string(row.layers).find("dt_ms") != std::string::npos)
    EXPECT_GE(states, 100);
}

INSTANTIATE_TEST_SUITE_P(
    Layers, RoundTrip,
    testing::Values(
        Row{"linear", R"({"name": "a", "type": "linear", "n_in": 4, "n_out": 2, "bias": false})"},
        Row{"plain_linear", R"({"name": "a", "type": "plain_linear", "n_in": 4, "n_out": 2})"},
        Row{"scale", R"({"name": "a", "type": "scale", "n": 4})"},
        Row{"threshold", R"({"name": "a", "type": "threshold", "n": 4, "threshold": [0.1, 0.2, 0.3, 0.4]})"},
        Row{"delay", R"({"name": "a", "type": "learnable_delay", "n": 4, "max_ms": 8, "dt_ms": 0.5})", {}, 1e-5},
        Row{"li",
            R"({"name": "a", "type": "li", "n": 4, "tau_ms": [3, 4, 5.5, 7.3], "V_rest": 0.1, "V_init": 0.1, "dt_ms": 0.7})"},
        Row{"li_euler", R"({"name": "a", "type": "li", "n": 4, "R": 2.3, "method": "euler", "dt_ms": 0.7})"},
        Row{"cuba_li", R"({"name": "a", "type": "cuba_li", "n": 4, "tau_syn_ms": 3.3, "w_in": 1.7, "dt_ms": 0.5})"},
        Row{"integrator", R"({"name": "a", "type": "integrator", "n": 4, "R": 0.3, "dt_ms": 0.5})"},
        Row{"lif",
            R"({"name": "a", "type": "lif", "n": 4, "spk_reset": "hard", "V_th": 0.4, "V_reset": -0.1, "strict": true, "dt_ms": 0.5})"},
        Row{"trained_lif",
            R"({"name": "a", "type": "lif", "n": 4, "spk_reset": "hard", "V_th": 0.4, "tau_ms": {"trainable": [3.1, 4, 5, 6]}, "strict": true, "dt_ms": 0.5})",
            {},
            1e-5},
        Row{"if", R"({"name": "a", "type": "if", "n": 4, "spk_reset": "hard", "V_th": 0.4, "dt_ms": 0.5})"},
        Row{"perfect_if",
            R"({"name": "a", "type": "perfect_if", "n": 4, "R": 0.3, "spk_reset": "hard", "strict": true, "dt_ms": 0.5})"},
        Row{"filtered_lif",
            R"({"name": "a", "type": "filtered_lif", "n": 4, "spk_reset": "hard", "V_th": 0.3, "w_in": 2, "strict": true, "dt_ms": 0.5})"},
        Row{"readout", R"({"name": "a", "type": "leaky_rate_readout", "n_in": 4, "n_out": 2, "dt_ms": 0.5})", {}, 1e-4},
        Row{"recurrent",
            R"({"name": "a", "type": "snn_delta", "n_in": 4, "n_rec": 5, "spk_reset": "hard", "V_th": 0.8})",
            {},
            1e-5},
        Row{"filtered_recurrent",
            R"({"name": "a", "type": "snn_expcu", "n_in": 4, "n_rec": 5, "spk_reset": "hard", "V_th": 0.9, "R": 0.7})",
            {},
            1e-5},
        Row{"nested",
            R"({"name": "a", "type": "graph", "nodes": [{"name": "z", "type": "lif", "n": 4, "spk_reset": "hard", "V_th": 0.4, "strict": true},
                 {"name": "w", "type": "linear", "n_in": 4, "n_out": 4}], "edges": [["input", "z"], ["z", "w"], ["w", "z"], ["z", "output"]]})"},
        Row{"images",
            R"({"name": "c", "type": "conv2d", "in_size": [2, 7, 6], "out_channels": 4, "kernel_size": [3, 2], "stride": [2, 1], "padding": [[1, 1], [0, 0]], "groups": 2, "bias": true, "channel_first": true},
                 {"name": "z", "type": "lif", "n": [4, 4, 5], "spk_reset": "hard", "V_th": 0.4, "strict": true},
                 {"name": "p", "type": "pool", "kind": "sum", "window": [2, 2], "stride": [1, 2], "channel_first": true},
                 {"name": "q", "type": "pool", "kind": "mean_of_all", "window": [2, 2], "padding": [[1, 1], [1, 1]], "channel_first": true},
                 {"name": "f", "type": "flatten", "n_trailing_axes": 2, "n_kept_axes": 1},
                 {"name": "g", "type": "flatten", "n_trailing_axes": 2})",
            {2, 7, 6}},
        Row{"signals",
            R"({"name": "c", "type": "conv1d", "in_size": [2, 9], "out_channels": 3, "kernel_size": [3], "padding": "SAME", "rhs_dilation": 2, "channel_first": true},
                 {"name": "v", "type": "li", "n": [3, 9]})",
            {2, 9}}),
    [](const auto& info) { return info.param.name; });

TEST(Export, WhatNirCannotSayIsNamed) {
  const auto expect_lossy = [](const std::string& layer, std::initializer_list<const char*> phrases,
                               const Shape& input = {4}) {
    const json        description = json::parse(R"({"type": "chain", "layers": [{"name": "a", )" + layer + "}]}");
    const std::string message     = error_of([&] { export_graph(description.dump(), *made(description), input); });
    for (const char* p : phrases) EXPECT_NE(message.find(p), message.npos) << "'" << p << "' is not in: " << message;
  };
  expect_lossy(R"("type": "lif", "n": 4)", {"layer 'a' (lif)", "soft reset", "hard"});
  expect_lossy(R"("type": "gru", "n_in": 4, "n_rec": 3)", {"layer 'a' (gru)", "no node"});
  expect_lossy(R"("type": "snn_delta", "n_in": 4, "n_rec": 3, "neuron": "alif")", {"layer 'a'", "alif neurons"});
  expect_lossy(R"("type": "conv2d", "in_size": [4, 4, 1], "out_channels": 2, "kernel_size": 3)",
               {"layer 'a'", "channel_first"}, {4, 4, 1});
  expect_lossy(R"("type": "pool", "kind": "max", "window": [2, 2], "channel_first": true)", {"layer 'a'", "maximum"},
               {1, 4, 4});
  expect_lossy(R"("type": "learnable_delay", "n": 4, "max_ms": 3, "width": 2)", {"layer 'a'", "wider"});
  expect_lossy(R"("type": "li", "n": 4}, {"name": "b", "type": "li", "n": 4, "method": "euler")",
               {"layer 'b'", "integrator"});
}

}  // namespace

}  // namespace braintrace::nir
