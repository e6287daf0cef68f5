// SPDX-License-Identifier: Apache-2.0
// Options of all commands that run programs: backend, and precision of products.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace braintrace::cli {

struct BackendChoice {
  std::string backend, precision;  // empty: not given

  void add_options(CLI::App& command);
  // Sets the environment variables, so that the choice also applies to child processes.
  void apply() const;
};

}  // namespace braintrace::cli
