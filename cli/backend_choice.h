// SPDX-License-Identifier: Apache-2.0
// Options of all commands that run programs: where, and how products round.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace braintrace::cli {

struct BackendChoice {
  std::string backend, precision;  // empty: not given

  void add_options(CLI::App& command);
  // What was given holds from now on as if the environment said so, also for processes that this one starts.
  void apply() const;
};

}  // namespace braintrace::cli
