// SPDX-License-Identifier: Apache-2.0
// The braintrace command. Exit status: 0 done, 1 a check failed, 2 bad input, 3 a bug.
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <malloc.h>
#include <mutex>
#include <new>
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

namespace braintrace::cli {

namespace {

enum Status { Done = 0, BadInput = 2, Bug = 3 };

// A standard descriptor that is closed would be the number of the next file we open, and what we say would end in that
// file. Its place is taken by one that cannot be read (0) or written (1, 2): using it fails as it did before.
void occupy_closed_descriptors() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0) (void)!::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

// A reader who has gone away has what he wanted.
void check_output() {
  require(std::fflush(stdout) == 0 || errno == EPIPE, "the output could not be written: {}.", std::strerror(errno));
}

int report(Status status, const std::string& message) {
  const bool colour = isatty(STDERR_FILENO) && !std::getenv("NO_COLOR");
  show(colour ? fmt::format(fmt::fg(fmt::terminal_color::red), "error:") : "error:");
  say(" {}\n", message);
  return status;
}

std::string unknown_command(const std::vector<CLI::App*>& commands, const std::string& given) {
  std::vector<std::string> names;
  for (const CLI::App* c : commands) names.push_back(c->get_name());
  return fmt::format("there is no command '{}'{}\n  Commands: {}", given, hint(given, names), fmt::join(names, " "));
}

// Commands show what the compiler says about a model themselves.
void show_warning(const std::string& text, const std::string& topic) {
  static std::mutex            mutex;
  static std::set<std::string> told;
  std::lock_guard              lock(mutex);
  if (!topic.empty() && told.insert(topic).second) say("warning: {}\n", text);
}

int run(int argc, char** argv) {
  CLI::App app("Online learning in recurrent and spiking networks with eligibility traces.", "braintrace");
  app.set_version_flag("--version", std::string(version));
  app.require_subcommand(1);
  Action chosen;
  add_advise(app, chosen);
  add_bench(app, chosen);
  add_cache(app, chosen);
  add_eval(app, chosen);
  add_explain(app, chosen);
  add_export(app, chosen);
  add_fidelity(app, chosen);
  add_graph(app, chosen);
  add_info(app, chosen);
  add_schedule(app, chosen);
  add_stream(app, chosen);
  add_tasks(app, chosen);
  add_train(app, chosen);
  add_verify(app, chosen);

  const auto commands = app.get_subcommands({});
  if (argc > 1 && argv[1][0] != '-' &&
      std::none_of(commands.begin(), commands.end(), [&](const CLI::App* c) { return c->get_name() == argv[1]; }))
    return report(BadInput, unknown_command(commands, argv[1]));
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    const int status = app.exit(help_or_version);
    check_output();
    return status;
  } catch (const CLI::ParseError& error) {
    return report(BadInput, std::string(error.what()) + "\n  See braintrace --help.");
  }
  settings::check_settings();
  set_warning_hook(show_warning);
  const int status = chosen();
  check_output();
  return status;
}

}  // namespace

CLI::Validator whole_number(int64_t least) {
  const auto problem = [least](const std::string& text) -> std::string {
    int64_t    n    = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), n);
    if (read.ec == std::errc() && read.ptr == text.data() + text.size() && n >= least) return "";
    return fmt::format("expected a whole number of at least {}, got '{}'", least, text);
  };
  return CLI::Validator(problem, "");
}

}  // namespace braintrace::cli

int main(int argc, char** argv) {
  using namespace braintrace;
  cli::occupy_closed_descriptors();
#ifdef M_MMAP_THRESHOLD
  // Large arrays go back to the system when they are freed. Left to itself this limit grows with what is freed, and the
  // peak of memory then depends on the order of that.
  mallopt(M_MMAP_THRESHOLD, 1 << 17);
#endif
  try {
    return cli::run(argc, argv);
  } catch (const UserError& error) {
    return cli::report(cli::BadInput, error.what());
  } catch (const CompileError& error) {
    return cli::report(cli::BadInput, error.what());
  } catch (const std::system_error& error) {  // of the system, such as a full disk
    return cli::report(cli::BadInput, error.what());
  } catch (const std::bad_alloc&) {
    return cli::report(cli::BadInput, "this needs more memory than there is.");
  } catch (const std::length_error&) {
    return cli::report(cli::BadInput, "this needs more memory than there is.");
  } catch (const std::exception& error) {
    return cli::report(cli::Bug, error.what());
  }
}
