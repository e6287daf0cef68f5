// SPDX-License-Identifier: Apache-2.0
// Help for the terminal. Like shell completions and manual pages (cli/manual.h), it is generated from the declared
// options, so that each option is described in one place.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace braintrace::cli {

// What `braintrace --help` and `braintrace COMMAND --help` print, wrapped to the terminal.
struct Help : CLI::FormatterBase {
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

// One entry of a list: names, such as `-o, --output FILE`, and a description with the default.
struct HelpEntry {
  std::string names, text;
};
// Entries below each other, wrapped to the terminal: names on the left, texts in a column.
std::string            listed(const std::vector<HelpEntry>& entries);
std::vector<HelpEntry> arguments_of(const CLI::App& app);
std::vector<HelpEntry> options_of(const CLI::App& app);
std::vector<HelpEntry> commands_of(const CLI::App& app);
std::vector<HelpEntry> exit_statuses();
// "braintrace graph [OPTIONS] MODEL"
std::string usage_of(const CLI::App& app, const std::string& name);
// "-o" and "--output". Only the first long name is shown; the others are older names that still work.
std::vector<std::string> names_of(const CLI::Option& option);
// True for an option such as --seed N, false for a flag such as --json.
bool takes_value(const CLI::Option& option);
// The possible values of an option or argument, if they are known: names of models, rules or tasks, or a fixed list.
std::vector<std::string> values_of(const CLI::Option& option);
// True if the name of a file or folder is a value.
bool takes_file(const CLI::Option& option);

}  // namespace braintrace::cli
