// SPDX-License-Identifier: Apache-2.0
// One command is one file with one function, listed in main.cpp. It declares its options and sets what to run;
// the callback's result is the exit status: 0, or 1 for a check that failed. Bad input throws UserError (status 2).
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

// The whole command line, from arguments to exit status; prints errors to stderr.
int answer(int argc, char** argv);
// The command of this name; otherwise an error that suggests the nearest one.
const CLI::App& command_named(const CLI::App& app, const std::string& name);
// A check of an option that is a whole number.
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
