// SPDX-License-Identifier: Apache-2.0
// Arguments that commands share: MODEL (a JSON description, or the name of a built-in model), and a rule.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "braintrace/compiler/graph.h"

namespace braintrace::cli {

struct ModelArgument {
  std::string            model;  // file or name
  std::optional<int64_t> batch;
  std::string            input;    // such as f32[28,28,1]; empty: read from the description
  std::string            weights;  // a file; empty: the weights of the description
  bool                   reference = false;

  void add_options(CLI::App& command);
  void add_model(CLI::App& command);  // only MODEL, --input and --weights
  void add_reference(CLI::App& command);
};

// --rule and --rule-options; the options are JSON, for rule_options_from_json.
void add_rule(CLI::App& command, std::string& rule, std::string& options);

struct BuiltModel {
  std::string             name;
  std::shared_ptr<Module> module;
  Type                    input;        // of one sample
  std::string             description;  // JSON
};
// Builds the model; its states are not initialized.
BuiltModel build_argument(const ModelArgument& argument);

struct CompiledModel {
  std::string             name;
  std::shared_ptr<Module> module;
  ETraceGraph             graph;
};
// Builds the model, initializes its states, and compiles its graph. Throws a UserError with the compiler's warnings and
// errors if the model cannot be trained online.
CompiledModel compile_argument(const ModelArgument& argument);

// The text of a file; nothing if there is no such file and the text is a plain name, without a slash or a dot.
std::optional<std::string> text_of_file(const std::string& path);

}  // namespace braintrace::cli
