// SPDX-License-Identifier: Apache-2.0
// Files of the packages nir, snntorch and norse give here what they give there (tests/nir/make_files.py).
#include "braintrace/nir/import.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/zoo/model.h"
#include "braintrace/zoo/weights.h"
#include "tests/support/error_of.h"

namespace braintrace::nir {

namespace {

std::string path_of(const std::string& name) { return BRAINTRACE_SOURCE_DIR "/tests/data/nir/" + name; }

std::shared_ptr<Module> model_of(const Imported& net) {
  const auto model = zoo::build_model(net.description);
  zoo::load_weights(*model, net.weights);
  init_all_states(*model);
  return model;
}

Tensor row_of(const Array& all, int64_t t) { return squeeze(slice_axis(Tensor(all), 0, t, t + 1), {0}); }

struct Recorded {
  const char*   name;
  ImportOptions options;
  double        tolerance;  // 0: spikes
};
void PrintTo(const Recorded& r, std::ostream* out) { *out << r.name; }

class Recordings : public testing::TestWithParam<Recorded> {};

TEST_P(Recordings, AreAnsweredAlike) {
  const Recorded&   r     = GetParam();
  const auto        model = model_of(import_graph(read(path_of(std::string(r.name) + ".nir")), r.options));
  const NamedArrays io    = read_npz(path_of(std::string(r.name) + ".npz"));
  const Array &     x = io.at("x"), &y = io.at("y");
  ASSERT_EQ(x.shape()[0], 100);
  double total = 0;
  for (int64_t t = 0; t < x.shape()[0]; ++t) {
    const Array got = (*model)(row_of(x, t)).array(), want = row_of(y, t).array();
    ASSERT_EQ(got.shape(), want.shape());
    for (int64_t i = 0; i < got.size(); ++i) {
      ASSERT_LE(std::abs(at(got, i) - at(want, i)), r.tolerance) << "step " << t << ", unit " << i;
      total += std::abs(at(want, i));
    }
  }
  EXPECT_GT(total, 10);  // something happens
}

const ImportOptions as_snntorch{.dt_ms = 0.1, .method = {}, .reset = nn::Reset::Hard, .surrogate = "relu_grad"};
INSTANTIATE_TEST_SUITE_P(Files, Recordings,
                         testing::Values(Recorded{"all_nodes", {}, 0}, Recorded{"shapes", {}, 1e-4},
                                         Recorded{"sums", {}, 0}, Recorded{"old_cycle", {}, 0},
                                         Recorded{"snntorch_leaky", as_snntorch, 0},
                                         Recorded{"snntorch_recurrent", as_snntorch, 0},
                                         Recorded{"snntorch_conv", as_snntorch, 0}, Recorded{"norse", {}, 1e-5}),
                         [](const auto& info) { return info.param.name; });

// The same comparison fails with another time step, integrator or reset: it is not blind.
TEST(Recorded, OtherSettingsAnswerOtherwise) {
  const NamedArrays io   = read_npz(path_of("snntorch_recurrent.npz"));
  const Graph       g    = read(path_of("snntorch_recurrent.nir"));
  ImportOptions     soft = as_snntorch, exact = as_snntorch;
  soft.reset   = nn::Reset::Soft;
  exact.method = nn::Integrator::ExpEuler;
  for (const ImportOptions& o : {soft, exact}) {
    const auto model = model_of(import_graph(g, o));
    double     worst = 0;
    for (int64_t t = 0; t < 100; ++t) {
      const Array got = (*model)(row_of(io.at("x"), t)).array(), want = row_of(io.at("y"), t).array();
      for (int64_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::abs(at(got, i) - at(want, i)));
    }
    EXPECT_EQ(worst, 1);
  }
}

TEST(Import, NamesAndNestedGraphs) {
  const auto old = nlohmann::json::parse(import_graph(read(path_of("old_cycle.nir"))).description);
  EXPECT_EQ(old["type"], "graph");
  EXPECT_EQ(old["edges"].size(), 5u);
  EXPECT_NE(old.dump().find("\"lif1_lif\""), std::string::npos);
  const auto nested =
      nlohmann::json::parse(import_graph(read(path_of("snntorch_recurrent.nir")), as_snntorch).description);
  EXPECT_NE(nested.dump().find("\"1_lif\""), std::string::npos) << nested.dump(1);
  const auto chain = nlohmann::json::parse(import_graph(read(path_of("norse.nir"))).description);
  EXPECT_EQ(chain["type"], "chain");
  EXPECT_EQ(chain["layers"][1]["tau_ms"].is_number(), true);
}

Array one(double v, int64_t n = 2) {
  return from_doubles({DType::F32, {n}}, std::vector<double>(static_cast<size_t>(n), v));
}
Node  port_of(const char* type) { return {type, {{"shape", Array::of<int64_t>({2}, {1})}}, {}, {}}; }
Graph around(const std::string& name, Node node) {
  return {{{"in", port_of("Input")}, {name, std::move(node)}, {"out", port_of("Output")}},
          {{"in", name}, {name, "out"}},
          {}};
}

void expect_lossy(const Graph& g, std::initializer_list<const char*> phrases, const ImportOptions& o = {}) {
  const std::string message = error_of([&] { import_graph(g, o); });
  for (const char* p : phrases) EXPECT_NE(message.find(p), message.npos) << "'" << p << "' is not in: " << message;
}

TEST(Import, WhatWouldBeLostIsNamed) {
  const auto lif = [](double tau, double threshold, double reset) {
    return Node{"LIF",
                {{"tau", one(tau)},
                 {"r", one(1)},
                 {"v_leak", one(0)},
                 {"v_threshold", one(threshold)},
                 {"v_reset", one(reset)}},
                {},
                {}};
  };
  EXPECT_NO_THROW(import_graph(around("a", lif(0.01, 1, 0))));
  expect_lossy(around("a", lif(0.0005, 1, 0)), {"node 'a' (LIF)", "tau = 0.5 ms", "step of 1 ms", "exp_euler"});
  expect_lossy(around("a", lif(-1, 1, 0)), {"node 'a'", "tau", "positive"});
  expect_lossy(around("a", lif(0.01, 1, 1)), {"node 'a'", "v_reset 1", "v_threshold 1"});
  expect_lossy(around("a", {"LIFF", {}, {}, {}}), {"node 'a' (LIFF)", "unknown", "did you mean 'LIF'"});
  expect_lossy(around("a", {"LIF", {}, {}, {}}), {"node 'a'", "'tau' is missing"});
  expect_lossy(around("a", {"Linear", {{"weight", one(1, 4)}}, {}, {}}), {"node 'a'", "(outputs, inputs)"});
  expect_lossy(around("a", {"Scale", {{"scale", one(1, 3)}}, {}, {}}), {"node 'a'", "[3] units", "[2]"});
  expect_lossy(around("a", {"Scale", {{"scale", one(std::nan(""))}}, {}, {}}), {"node 'a'", "not finite"});
  expect_lossy(around("a", {"Delay", {{"delay", one(-1)}}, {}, {}}), {"node 'a'", "future"});
  Graph loop = around("a", {"Scale", {{"scale", one(1)}}, {}, {}});
  loop.nodes.emplace("b", loop.nodes.at("a"));
  loop.edges.insert(loop.edges.end(), {{"a", "b"}, {"b", "a"}});
  expect_lossy(loop, {"a, b", "cycle without a population"});
  loop.edges.pop_back();
  loop.nodes.emplace("alone", loop.nodes.at("a"));
  expect_lossy(loop, {"'alone'", "reached"});
}

}  // namespace

}  // namespace braintrace::nir
