// SPDX-License-Identifier: Apache-2.0
// Shell completions and manual pages, from the declared options.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace braintrace::cli {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);
// The manual page of the program, or of one of its commands, in the format of man(7).
std::string manual_page(const CLI::App& app);
std::string manual_page(const CLI::App& app, const CLI::App& command);

}  // namespace braintrace::cli
