// SPDX-License-Identifier: Apache-2.0
// Recorded cases (tests/data/golden) loaded into models.
#pragma once

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/io/npy.h"
#include "braintrace/ops/move.h"
#include "braintrace/zoo/model.h"

namespace braintrace {

namespace fs = std::filesystem;
using nlohmann::json;

inline const fs::path golden = fs::path(BRAINTRACE_SOURCE_DIR) / "tests/data/golden";

// Names such as corrected/gru_windows, sorted.
inline std::vector<std::string> golden_cases(std::initializer_list<const char*> folders) {
  std::vector<std::string> out;
  for (const char* folder : folders)
    for (const auto& entry : fs::directory_iterator(golden / folder))
      if (fs::exists(entry.path() / "case.json")) out.push_back(fs::path(folder) / entry.path().filename());
  std::sort(out.begin(), out.end());
  return out;
}

// The state and leaf behind a dotted array name: "rnn.W.weight.bias" is leaf bias of rnn.W.weight.
inline std::pair<State, std::string> find_leaf(const Module& model, const std::string& name) {
  for (const auto& [path, state] : model.states())
    for (const std::string& leaf : state.leaf_names())
      if (path.str() + (leaf.empty() ? "" : "." + leaf) == name) return {state, leaf};
  throw UserError("no state for " + name);
}

struct Loaded {
  json                    info;
  NamedArrays             arrays;
  std::shared_ptr<Module> model;

  explicit Loaded(const std::string& name) {
    info   = json::parse(std::ifstream(golden / name / "case.json"));
    arrays = read_npz(golden / name / "arrays.npz");
    model  = zoo::build_model(info["model"]);
    init_all_states(*model, {.batch_size = info["B"].is_null() ? BatchSize() : BatchSize(info["B"].get<int64_t>())});
    for (const auto& [key, value] : arrays)
      for (const std::string prefix : {"param.", "h0."})
        if (key.rfind(prefix, 0) == 0) {
          const auto [state, leaf] = find_leaf(*model, key.substr(prefix.size()));
          EXPECT_EQ(state.leaf(leaf).shape(), value.shape()) << key;
          state.set_leaf(leaf, Tensor(value));
          ++set;
        }
    int leaves = 0;
    for (const auto& [path, state] : model->states()) leaves += static_cast<int>(state.leaf_names().size());
    EXPECT_EQ(set, leaves) << "some parameters or states are not recorded";
  }
  int set = 0;
};

inline Tensor step_of(const Array& all, int64_t t) {
  const Tensor x(all);
  return reshape(slice_axis(x, 0, t, t + 1), Shape(x.shape().begin() + 1, x.shape().end()));
}

}  // namespace braintrace
