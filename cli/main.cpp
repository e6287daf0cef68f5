// SPDX-License-Identifier: Apache-2.0
// The braintrace command. Exit status: 0 done, 1 a check failed, 2 bad input, 3 a bug.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <unistd.h>

#include <fmt/color.h>
#include <fmt/format.h>

#include "braintrace/base/error.h"
#include "braintrace/base/version.h"
#include "braintrace/compiler/diagnostics.h"
#include "cli/command.h"

namespace braintrace::cli {

namespace {

enum Status { Done = 0, BadInput = 2, Bug = 3 };

int report(Status status, const std::string& message) {
  const bool colour = isatty(STDERR_FILENO) && !std::getenv("NO_COLOR");
  fmt::print(stderr, "{} {}\n", colour ? fmt::format(fmt::fg(fmt::terminal_color::red), "error:") : "error:", message);
  return status;
}

// Edit distance (insert, delete, replace).
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t above = row[j + 1];
      row[j + 1]         = std::min({above + 1, row[j] + 1, diagonal + (a[i] != b[j])});
      diagonal           = above;
    }
  }
  return row[b.size()];
}

std::string unknown_command(const std::vector<CLI::App*>& commands, const std::string& given) {
  std::string all, nearest;
  for (const CLI::App* c : commands) {
    all += " " + c->get_name();
    if (nearest.empty() || distance(given, c->get_name()) < distance(given, nearest)) nearest = c->get_name();
  }
  return fmt::format("there is no command '{}'; did you mean '{}'?\n  Commands:{}", given, nearest, all);
}

int run(int argc, char** argv) {
  CLI::App app("Online learning in recurrent and spiking networks with eligibility traces.", "braintrace");
  app.set_version_flag("--version", std::string(version));
  app.require_subcommand(1);
  Action chosen;
  add_explain(app, chosen);
  add_graph(app, chosen);
  add_info(app, chosen);
  add_verify(app, chosen);

  const auto commands = app.get_subcommands({});
  if (argc > 1 && argv[1][0] != '-' &&
      std::none_of(commands.begin(), commands.end(), [&](const CLI::App* c) { return c->get_name() == argv[1]; }))
    return report(BadInput, unknown_command(commands, argv[1]));
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    return report(BadInput, std::string(error.what()) + "\n  See braintrace --help.");
  }
  const int status = chosen();
  require(std::fflush(stdout) == 0, "the output could not be written; is the disk full?");
  return status;
}

}  // namespace

}  // namespace braintrace::cli

int main(int argc, char** argv) {
  using namespace braintrace;
  try {
    return cli::run(argc, argv);
  } catch (const UserError& error) {
    return cli::report(cli::BadInput, error.what());
  } catch (const CompileError& error) {
    return cli::report(cli::BadInput, error.what());
  } catch (const std::exception& error) {
    return cli::report(cli::Bug, error.what());
  }
}
