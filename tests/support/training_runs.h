// SPDX-License-Identifier: Apache-2.0
// What tests of training share: a rule as a configuration asks for it, and a folder for the files of runs.
#pragma once

#include <filesystem>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace braintrace::train {

// A rule with what it asks for.
inline nlohmann::json rule_named(const std::string& name) {
  nlohmann::json out = {{"name", name}};
  if (name == "ES_D_RTRL") out["decay_or_rank"] = 0.8;
  if (name == "EProp") out.update({{"kappa_filter_decay", 0.5}, {"feedback", "random"}, {"random_feedback_key", 3}});
  if (name == "ThreeFactor") out["modulator"] = "reward";
  return out;
}

// In memory where there is such a folder: hundreds of runs wait for the disk otherwise.
struct RunFolder : ::testing::Test {
  std::filesystem::path dir = (std::filesystem::is_directory("/dev/shm") ? std::filesystem::path("/dev/shm")
                                                                         : std::filesystem::temp_directory_path()) /
                              ("braintrace_runs_" + std::to_string(::getpid()));
  void SetUp() override { std::filesystem::create_directories(dir); }
  void TearDown() override { std::filesystem::remove_all(dir); }

  std::string file(const std::string& name) const { return (dir / (name + ".safetensors")).string(); }
};

}  // namespace braintrace::train
