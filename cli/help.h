// SPDX-License-Identifier: Apache-2.0
// Help for the terminal. It is generated from the declared options, as are shell completions and manual pages
// (cli/manual.h): an option is described once, where it is declared.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace braintrace::cli {

// What `braintrace --help` and `braintrace COMMAND --help` print, wrapped to the terminal.
struct Help : CLI::FormatterBase {
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

// One line of a list: `-o, --output FILE` and what it means, with its default.
struct HelpEntry {
  std::string names, text;
};
std::vector<HelpEntry> arguments_of(const CLI::App& app);
std::vector<HelpEntry> options_of(const CLI::App& app);
std::vector<HelpEntry> commands_of(const CLI::App& app);
std::vector<HelpEntry> exit_statuses();
// "braintrace graph [OPTIONS] MODEL"
std::string usage_of(const CLI::App& app, const std::string& name);
// False for a flag.
bool takes_value(const CLI::Option& option);
// The values an option or argument can have, if they are known: names of models, rules or tasks, or the values of a
// set.
std::vector<std::string> values_of(const CLI::Option& option);

}  // namespace braintrace::cli
