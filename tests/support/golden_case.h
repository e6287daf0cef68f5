// SPDX-License-Identifier: Apache-2.0
// The cases recorded in tests/data/golden.
#pragma once

#include <algorithm>
#include <filesystem>

#include "braintrace/verify/case.h"

namespace braintrace {

namespace fs = std::filesystem;
using golden::at_step;
using golden::find_leaf;
using golden::json;

inline const fs::path golden_data = fs::path(BRAINTRACE_SOURCE_DIR) / "tests/data/golden";

// Names such as corrected/gru_windows or graphs/lstm.json, sorted.
inline std::vector<std::string> golden_cases(std::initializer_list<const char*> folders) {
  std::vector<std::string> out;
  for (const char* folder : folders)
    for (const std::string& file : golden::find_cases((golden_data / folder).string())) {
      const fs::path path = fs::relative(file, golden_data);
      out.push_back(path.filename() == "case.json" ? path.parent_path().string() : path.string());
    }
  std::sort(out.begin(), out.end());
  return out;
}

// A name a test may have.
inline std::string test_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return text;
}

// A numeric case and its model with the recorded values.
struct Loaded : golden::Case {
  std::shared_ptr<Module> model;

  explicit Loaded(const std::string& name) : Case(golden::load_case((golden_data / name).string())) {
    model = golden::load_model(*this);
  }
};

}  // namespace braintrace
