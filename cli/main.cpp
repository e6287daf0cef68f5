// SPDX-License-Identifier: Apache-2.0
// The braintrace command: subcommands, arguments, and exit statuses of errors (exit_statuses in cli/help.h).
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <malloc.h>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <system_error>
#include <unistd.h>

#include <fmt/color.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/backends/settings.h"
#include "braintrace/base/error.h"
#include "braintrace/base/nearest.h"
#include "braintrace/base/version.h"
#include "braintrace/base/warning.h"
#include "braintrace/compiler/diagnostics.h"
#include "cli/command.h"
#include "cli/help.h"

namespace braintrace::cli {

namespace {

enum Status { Done = 0, BadInput = 2, Bug = 3 };

// The next file we open would get the number of a closed standard descriptor, and our messages would end up in that
// file. Fill the gap with a descriptor that cannot be read (0) or written (1, 2), so that using it still fails.
void occupy_closed_descriptors() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0) (void)!::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void check_output() {
  if (std::fflush(stdout) != 0 && errno != EPIPE) throw std::system_error(errno, std::generic_category());
}

int report(Status status, const std::string& message) {
  const bool color = isatty(STDERR_FILENO) && !std::getenv("NO_COLOR");
  show(color ? fmt::format(fmt::fg(fmt::terminal_color::red), "error:") : "error:");
  say(" {}\n", message);
  return status;
}

// Not an error if the reader has closed the pipe.
int unwritable_output(const std::error_code& reason) {
  std::clearerr(stdout);
  return reason.value() == EPIPE
             ? Done
             : report(BadInput, fmt::format("the output could not be written: {}.", reason.message()));
}

// "a", "a or b", "a, b or c"
std::string either(const std::vector<std::string>& words) {
  std::string out = words.back();
  for (size_t i = words.size() - 1; i-- > 0;) out = words[i] + (i + 2 == words.size() ? " or " : ", ") + out;
  return out;
}

// The option and the rest of "{before}OPTION{between}REST{after}".
std::optional<std::pair<std::string, std::string>> parts_of(std::string_view said, std::string_view before,
                                                            std::string_view between, std::string_view after) {
  if (!said.starts_with(before) || !said.ends_with(after)) return std::nullopt;
  said                = said.substr(before.size(), said.size() - before.size() - after.size());
  const size_t middle = said.find(between);
  if (middle == said.npos || said.find(' ') < middle) return std::nullopt;
  return std::pair(std::string(said.substr(0, middle)), std::string(said.substr(middle + between.size())));
}

// What the parser says, in our words: "--lr: expected a number, got 'abc'".
std::string parser_words(const CLI::App& command, const std::string& said) {
  if (const auto p = parts_of(said, "Could not convert: ", " = ", "")) {
    const CLI::Option* o     = command.get_option_no_throw(p->first);
    const bool         whole = o && o->get_type_name() != "FLOAT";
    return fmt::format("{}: expected {}, got '{}'", p->first, whole ? "an integer" : "a number", p->second);
  }
  if (const auto p = parts_of(said, "", ": 1 required ", " missing"))
    return fmt::format("{} needs a value: {}", p->first, p->second);
  if (const auto p = parts_of(said, "", " excludes ", ""))
    return fmt::format("{} and {} exclude each other", p->first, p->second);
  if (const auto p = parts_of(said, "", " requires ", "")) return fmt::format("{} needs {}", p->first, p->second);
  if (const auto p = parts_of(said, "", ": ", "}")) {  // "--loss: x not in {a,b"
    const CLI::Option* o    = command.get_option_no_throw(p->first);
    const size_t       list = p->second.rfind(" not in {");
    if (o && list != said.npos)
      return fmt::format("{}: expected {}, got '{}'", p->first, either(values_of(*o)), p->second.substr(0, list));
  }
  return said;
}

// The problem with the arguments, and where to find help.
std::string argument_error(const CLI::App& app, const CLI::ParseError& error) {
  const auto        chosen = app.get_subcommands();
  const CLI::App&   where  = chosen.empty() ? app : *chosen[0];
  const std::string name   = chosen.empty() ? "braintrace" : "braintrace " + where.get_name();
  std::string       what   = chosen.empty() ? "a command is missing" : parser_words(where, error.what());
  const bool        extra  = chosen.empty() || error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  if (auto left = app.remaining(true); extra && !left.empty()) {
    std::vector<std::string> known;
    for (const CLI::Option* o : where.get_options())
      for (const std::string& l : o->get_lnames()) known.push_back("--" + l);
    for (std::string& l : left)
      if (l.empty()) l = "''";
    const bool option = left[0].starts_with("-");
    what              = option ? fmt::format("{} has no option {}{}", name, left[0], hint(left[0], known))
                               : fmt::format("{}: unexpected argument{} {}", name, left.size() > 1 ? "s" : "", fmt::join(left, " "));
  }
  return fmt::format("{}{}\n  See {} --help.", what, what.ends_with('.') || what.ends_with('?') ? "" : ".", name);
}

// An empty value is most often that of a shell variable without one; commands would treat it as not given.
void refuse_empty_values(const CLI::App& command) {
  for (const CLI::Option* o : command.get_options())
    for (const std::string& given : o->results())
      require(!given.empty(), "{} needs a value that is not empty; is a shell variable unset?", o->get_name());
}

// True if the error is about an option, about a missing argument, or about an argument that names no file.
bool concerns_arguments(const CLI::App& command, const std::string& error) {
  if (error.starts_with("-")) return true;
  for (const CLI::Option* o : command.get_options()) {
    if (!o->get_positional()) continue;
    if (error.starts_with(o->get_name(true) + " ")) return true;
    for (const std::string& given : o->results())
      if (error.starts_with(given + ": ") && !std::filesystem::exists(given)) return true;
  }
  return false;
}

// Suppresses stdout during its lifetime. (The Python package runs commands in its own process.)
class SilentOutput {
 public:
  SilentOutput() : kept_(::dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    const int null = ::open("/dev/null", O_WRONLY);
    if (null >= 0) ::dup2(null, STDOUT_FILENO), ::close(null);
  }
  ~SilentOutput() {
    std::fflush(stdout);
    if (kept_ >= 0) ::dup2(kept_, STDOUT_FILENO), ::close(kept_);
  }
  SilentOutput(const SilentOutput&)            = delete;
  SilentOutput& operator=(const SilentOutput&) = delete;

 private:
  int kept_;
};

// `braintrace help graph` is `braintrace graph --help`.
void add_help(CLI::App& app, Action& chosen) {
  auto  name    = std::make_shared<std::string>();
  auto* command = app.add_subcommand("help", "Show help for a command");
  command->add_option("COMMAND", *name, "Command (default: all commands)");
  command->footer("  braintrace help train\n");
  command->callback([name, &app, &chosen] {
    chosen = [name, &app] {
      if (name->empty())
        fmt::print("{}", app.get_formatter()->make_help(&app, "braintrace", CLI::AppFormatMode::Normal));
      else
        fmt::print("{}", app.get_formatter()->make_help(&command_named(app, *name), "braintrace " + *name,
                                                        CLI::AppFormatMode::Normal));
      return 0;
    };
  });
}

// Commands print compiler messages about a model themselves.
void show_warning(const std::string& text, const std::string& topic) {
  static std::mutex            mutex;
  static std::set<std::string> told;
  std::lock_guard              lock(mutex);
  if (!topic.empty() && told.insert(topic).second) note("warning: {}\n", text);
}

void add_commands(CLI::App& app, Action& chosen) {
  add_advise(app, chosen);
  add_bench(app, chosen);
  add_cache(app, chosen);
  add_completion(app, chosen);
  add_eval(app, chosen);
  add_explain(app, chosen);
  add_export(app, chosen);
  add_fidelity(app, chosen);
  add_graph(app, chosen);
  add_help(app, chosen);
  add_import(app, chosen);
  add_info(app, chosen);
  add_man(app, chosen);
  add_predict(app, chosen);
  add_schedule(app, chosen);
  add_stream(app, chosen);
  add_sweep(app, chosen);
  add_tasks(app, chosen);
  add_train(app, chosen);
  add_verify(app, chosen);
}

int run(int argc, char** argv) {
  CLI::App app("Online learning in recurrent and spiking networks with eligibility traces", "braintrace");
  app.formatter(std::make_shared<Help>());
  app.set_help_flag("-h,--help", "Show this help and exit");
  app.set_version_flag("-V,--version", fmt::format("braintrace {}", version), "Show the version and exit");
  app.require_subcommand(1);
  app.footer(
      "  braintrace graph gru -o gru.html              what the compiler finds in a model\n"
      "  braintrace train config.json                  train, with checkpoints and a report\n"
      "  braintrace stream gru --lr 0.01 < data.csv    predict and learn, record by record\n"
      "  braintrace COMMAND --help                     options and examples of a command\n");
  Action chosen;
  add_commands(app, chosen);
  quiet = false;
  for (CLI::App* c : app.get_subcommands({}))
    c->add_flag("-q,--quiet", quiet,
                c->get_option_no_throw("--json") ? "Print only errors and the output of --json" : "Print only errors");

  if (argc > 1 && argv[1][0] != '-') command_named(app, argv[1]);
  try {
    if (argc < 2)
      fmt::print("{}", app.help());
    else
      app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    const int status = app.exit(help_or_version);
    check_output();
    return status;
  } catch (const CLI::ParseError& error) {
    return report(BadInput, argument_error(app, error));
  }
  if (argc < 2) {
    check_output();
    return Done;
  }
  settings::check_settings();
  set_warning_hook(show_warning);
  const CLI::App*             command = app.get_subcommands()[0];
  const CLI::Option*          json    = command->get_option_no_throw("--json");
  std::optional<SilentOutput> silence;
  if (quiet && !(json && json->count() > 0)) silence.emplace();
  try {
    refuse_empty_values(*command);
    const int status = chosen();
    check_output();
    return status;
  } catch (const UserError& error) {
    if (!concerns_arguments(*command, error.what())) throw;
    return report(BadInput, fmt::format("{}\n  See braintrace {} --help.", error.what(), command->get_name()));
  }
}

}  // namespace

const CLI::App& command_named(const CLI::App& app, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (c->get_name() == name) return *c;
    names.push_back(c->get_name());
  }
  fail("there is no command '{}'{}\n  Commands: {}\n  See braintrace --help.", name, hint(name, names),
       fmt::join(names, " "));
}

int answer(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const UserError& error) {
    return report(BadInput, error.what());
  } catch (const CompileError& error) {
    return report(BadInput, error.what());
  } catch (const std::system_error& error) {  // of the system, such as a full disk
    return std::ferror(stdout) ? unwritable_output(error.code()) : report(BadInput, error.what());
  } catch (const std::bad_alloc&) {
    return report(BadInput, "not enough memory.");
  } catch (const std::length_error&) {
    return report(BadInput, "not enough memory.");
  } catch (const std::exception& error) {
    return report(Bug, error.what());
  }
}

CLI::Validator whole_number(int64_t least, int64_t most) {
  const auto problem = [=](const std::string& text) -> std::string {
    int64_t    n    = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), n);
    if (read.ec == std::errc() && read.ptr == text.data() + text.size() && n >= least && n <= most) return "";
    const std::string range =
        most == INT64_MAX ? fmt::format("≥ {}", least) : fmt::format("from {} to {}", least, most);
    return fmt::format("expected an integer {}, got '{}'", range, text);
  };
  return CLI::Validator(problem, "");
}

}  // namespace braintrace::cli

int main(int argc, char** argv) {
  braintrace::cli::occupy_closed_descriptors();
#ifdef M_MMAP_THRESHOLD
  // Return large arrays to the system when they are freed. By default this threshold grows with freed blocks, and peak
  // memory then depends on the order of deallocations.
  mallopt(M_MMAP_THRESHOLD, 1 << 17);
#endif
  return braintrace::cli::answer(argc, argv);
}
