// SPDX-License-Identifier: Apache-2.0
// Each command has a file with a function add_NAME, which main.cpp calls. The function declares the options of the
// command, and sets the action to run when a user chooses the command. The action returns the exit status: 0, or 1 if a
// check failed. Bad input throws a UserError (status 2).
#pragma once

#include <functional>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "braintrace/io/line_sink.h"
#include "braintrace/viz/escape.h"

namespace braintrace::cli {

using Action = std::function<int()>;

// Writes bytes to stderr. Never fails: output that cannot be written is dropped.
inline void show(const std::string& bytes) { LineSink(STDERR_FILENO).try_write(bytes); }
// Writes a message to stderr; control bytes in it do not reach the terminal.
template <class... Args>
void say(fmt::format_string<Args...> text, Args&&... args) {
  show(utf8(fmt::vformat(text, fmt::make_format_args(args...))));
}
// --quiet: print only errors and the output of --json.
inline bool quiet = false;
// Writes a message to stderr, unless --quiet is set.
template <class... Args>
void note(fmt::format_string<Args...> text, Args&&... args) {
  if (!quiet) say(text, std::forward<Args>(args)...);
}

// Runs the command line and returns its exit status; prints errors to stderr.
int answer(int argc, char** argv);
// The command with this name; for an unknown name, throws a UserError that suggests the closest one.
const CLI::App& command_named(const CLI::App& app, const std::string& name);
// Checks that the value of an option is a whole number from `least` to `most`.
CLI::Validator whole_number(int64_t least, int64_t most = INT64_MAX);

void add_advise(CLI::App& app, Action& chosen);
void add_bench(CLI::App& app, Action& chosen);
void add_cache(CLI::App& app, Action& chosen);
void add_completion(CLI::App& app, Action& chosen);
void add_eval(CLI::App& app, Action& chosen);
void add_explain(CLI::App& app, Action& chosen);
void add_export(CLI::App& app, Action& chosen);
void add_fidelity(CLI::App& app, Action& chosen);
void add_graph(CLI::App& app, Action& chosen);
void add_import(CLI::App& app, Action& chosen);
void add_info(CLI::App& app, Action& chosen);
void add_man(CLI::App& app, Action& chosen);
void add_predict(CLI::App& app, Action& chosen);
void add_schedule(CLI::App& app, Action& chosen);
void add_stream(CLI::App& app, Action& chosen);
void add_sweep(CLI::App& app, Action& chosen);
void add_tasks(CLI::App& app, Action& chosen);
void add_train(CLI::App& app, Action& chosen);
void add_verify(CLI::App& app, Action& chosen);

}  // namespace braintrace::cli
