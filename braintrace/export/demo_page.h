// SPDX-License-Identifier: Apache-2.0
// An exported network as one self-contained page: it learns in the browser from the movements of the visitor's pointer,
// with model.c compiled to WebAssembly, and plots its weights and traces as they change.
//
// The task needs memory. At each step, the network reads the position of the pointer, and the target of output k is the
// position (k + 1) · demo_lag steps ago.
#pragma once

#include <string>
#include <vector>

#include "braintrace/export/export.h"

namespace braintrace {

inline constexpr int demo_lag = 4;

// Throws UserError for a network that the page cannot run: inputs and targets must be vectors of f32.
void check_demo(const Exported& network);

// Sources for WebAssembly: model.h and model.c, demo.c, which contains the network, and the headers they include.
std::vector<ExportedFile> demo_sources(const Exported& network);
// Arguments of clang to compile them in their folder as demo.wasm. Other functions that the C code needs are those of
// Math.
std::vector<std::string> demo_compiler_arguments();

struct DemoWords {
  std::string title, about;
};
// `wasm` : demo.wasm in base64.
std::string demo_page(const Exported& network, const DemoWords& words, const std::string& wasm);

}  // namespace braintrace
