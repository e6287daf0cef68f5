// SPDX-License-Identifier: Apache-2.0
// Sparse populations by description: patterns that are generated, read from files, or an error.
#include "braintrace/zoo/wiring.h"

#include <algorithm>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/temporary_folder.h"
#include "braintrace/ops/move.h"
#include "braintrace/runtime/values.h"
#include "braintrace/zoo/model.h"
#include "tests/support/error_of.h"

namespace braintrace::zoo {
namespace {

Wiring wiring(const std::string& pattern, int64_t n, int64_t m, bool own = false) {
  const auto   json = nlohmann::json::parse(R"({"pattern": )" + pattern + "}");
  const Fields f(json, "", "a test", field_specs("pattern"));
  return wiring_of(f, "pattern", n, m, own);
}

// Sources of every target, which are all different.
std::vector<std::set<int32_t>> sources(const Wiring& w) {
  const auto                     from = to_vector<int32_t>(w.pattern.rows), to = to_vector<int32_t>(w.pattern.cols);
  std::vector<std::set<int32_t>> out(static_cast<size_t>(w.pattern.n_cols));
  for (size_t e = 0; e < from.size(); ++e) EXPECT_TRUE(out[static_cast<size_t>(to[e])].insert(from[e]).second);
  EXPECT_TRUE(std::is_sorted(to.begin(), to.end()));
  return out;
}

TEST(Wiring, OfFixedInDegree) {
  const auto all = sources(wiring(R"({"type": "fixed_in_degree", "degree": 4})", 5, 5, true));
  for (int32_t j = 0; j < 5; ++j) {
    EXPECT_EQ(all[static_cast<size_t>(j)].size(), 4u);
    EXPECT_FALSE(all[static_cast<size_t>(j)].contains(j)) << "no neuron drives itself";
  }
  const auto seeded = [](int seed) {
    return sources(wiring(fmt::format(R"({{"type": "fixed_in_degree", "degree": 3, "seed": {}}})", seed), 50, 20));
  };
  EXPECT_EQ(seeded(1), seeded(1));
  EXPECT_NE(seeded(1), seeded(2));
}

// On a sheet of 20 by 20 sources lie around their target, across the sides too.
TEST(Wiring, ByDistance) {
  const auto all = sources(wiring(R"({"type": "distance", "degree": 12, "sigma": 1.5})", 400, 400, true));
  double     sum = 0;
  for (int32_t j = 0; j < 400; ++j)
    for (const int32_t i : all[static_cast<size_t>(j)])
      for (const int32_t d : {i % 20 - j % 20, i / 20 - j / 20}) {
        const int32_t apart = std::min(std::abs(d), 20 - std::abs(d));
        EXPECT_LE(apart, 9);
        sum += apart * apart;
      }
  EXPECT_LT(sum / (2 * 12 * 400), 4);
  EXPECT_GT(sum / (2 * 12 * 400), 1);
}

TEST(Wiring, FromAFile) {
  const TemporaryFolder folder;
  const std::string     path = (folder.path / "net.mtx").string();
  std::ofstream(path) << "%%MatrixMarket matrix coordinate real general\n2 3 2\n2 3 0.5\n1 1 -2\n";
  const std::string pattern = fmt::format(R"({{"type": "file", "path": "{}"}})", path);
  const Wiring      w       = wiring(pattern, 2, 3);
  EXPECT_EQ(to_vector<float>(w.values), (std::vector<float>{-2, 0.5}));
  EXPECT_EQ(to_vector<int32_t>(w.pattern.cols), (std::vector<int32_t>{0, 2}));
  const std::string message = error_of([&] { wiring(pattern, 3, 3); });
  EXPECT_NE(message.find("2 by 3; expected 3 sources"), message.npos) << message;
}

TEST(Wiring, Wrong) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {R"({"type": "ring"})", "fixed_in_degree"},
      {R"({"type": "fixed_in_degree", "degree": 5})", "only 4 sources"},
      {R"({"type": "fixed_in_degree", "degree": 0})", "positive"},
      {R"({"type": "fixed_in_degree", "degre": 2})", "'degree'"},
      {R"({"type": "distance", "degree": 2, "sigma": 0})", "positive"},
      {R"({"type": "distance", "degree": 4, "sigma": 0.001})", "too few sources"},
      {R"({"type": "distance", "degree": 4, "sigma": 1e30})", "at most 1e9"},
      {R"({"type": "distance", "degree": 4, "sigma": 1, "seed": -1})", "whole number from 0"},
      {R"({"type": "fixed_in_degree", "degree": 4, "seed": 0.5})", "whole number from 0"},
      {R"({"type": "fixed_in_degree", "degree": 4, "seed": 1e30})", "whole number from 0"},
      {R"({"type": "file", "path": "/nowhere/net.mtx"})", "/nowhere/net.mtx"},
      {R"({"type": "csr", "shape": [5, 5], "indptr": [0, 1], "indices": [0]})", "indptr"},
      {R"({"type": "csr", "shape": [1, 1], "indptr": [0, 1], "indices": [0]})", "expected 5 sources"},
      {R"({"type": "csr", "shape": [-1, 5], "indptr": [], "indices": []})", "[rows, columns]"},
      {R"({"type": "csr", "shape": [2, 3], "indptr": [0, 1, 4], "indices": [2, 2, 1, 2]})",
       "column 2 appears twice in row 1"},
  };
  for (const auto& [pattern, phrase] : cases) {
    const std::string message = error_of([&p = pattern] { wiring(p, 5, 5, true); });
    EXPECT_NE(message.find("pattern"), message.npos) << message;
    EXPECT_NE(message.find(phrase), message.npos) << "'" << phrase << "' is not in: " << message;
  }
}

// Input and recurrent weights of a sparse population, and its step.
TEST(Wiring, OfASpikingPopulation) {
  const auto model = build_model(R"({"type": "sparse_snn", "n_in": 6, "n_rec": 10, "ff_scale": 40.0,
      "pattern": {"type": "fixed_in_degree", "degree": 3}, "input": {"type": "fixed_in_degree", "degree": 2}})");
  init_all_states(*model);
  EXPECT_EQ(model->params().size(), 2u);
  int spikes = 0;
  for (int k = 0; k < 5; ++k)
    for (const float z : to_vector<float>((*model)(full({6}, 1)))) spikes += z > 0;
  EXPECT_GT(spikes, 0);
}

}  // namespace
}  // namespace braintrace::zoo
