// SPDX-License-Identifier: Apache-2.0
// An exported network as one page that needs nothing else: it learns in the browser from the visitor's own movements,
// by the C of model.c compiled as WebAssembly, and draws its weights and traces as they change.
//
// The network is to remember. Each step it reads where the pointer is, and reports where it was some steps ago: output
// k gets the position of (k + 1) · demo_lag steps ago as its target.
#pragma once

#include <string>
#include <vector>

#include "braintrace/export/export.h"

namespace braintrace {

inline constexpr int demo_lag = 4;

// Throws UserError for a network that the page cannot drive: it reads a vector of f32 and learns vectors of f32.
void check_demo(const Exported& network);

// Sources for WebAssembly: model.h and model.c, demo.c which holds the network, and the headers they include.
std::vector<ExportedFile> demo_sources(const Exported& network);
// Arguments of clang to compile them in their folder as demo.wasm. What else the C needs are functions of Math.
std::vector<std::string> demo_compiler_arguments();

struct DemoWords {
  std::string title, about;
};
// `wasm` : demo.wasm in base64.
std::string demo_page(const Exported& network, const DemoWords& words, const std::string& wasm);

}  // namespace braintrace
