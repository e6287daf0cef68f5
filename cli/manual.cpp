// SPDX-License-Identifier: Apache-2.0
// Manual pages, and the commands that print them and shell completions.
#include "cli/manual.h"

#include <filesystem>

#include <fmt/format.h>

#include "braintrace/base/nearest.h"
#include "braintrace/base/version.h"
#include "braintrace/io/file.h"
#include "braintrace/io/folder.h"
#include "cli/command.h"
#include "cli/help.h"

namespace braintrace::cli {

namespace {

namespace fs = std::filesystem;

// Text as man(7) shows it: a backslash is escaped, a hyphen stays a hyphen, a line does not start a request.
std::string roff(const std::string& text) {
  std::string out;
  for (char c : text) {
    const bool starts = out.empty() || out.back() == '\n';
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += (starts && (c == '.' || c == '\'') ? "\\&" : "") + std::string(1, c);
  }
  return out;
}

std::string described_list(const char* title, const std::vector<HelpEntry>& entries) {
  std::string out;
  for (const HelpEntry& e : entries) out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(e.names), roff(e.text));
  return out.empty() ? "" : fmt::format(".SH {}\n{}", title, out);
}

std::string page(const CLI::App& app, const std::string& file_name, const std::string& name, const std::string& see) {
  std::string out = fmt::format(
      ".TH \"{}\" 1 \"\" \"braintrace {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n\\fB{}\\fR\n",
      file_name, version, roff(file_name), roff(app.get_description()), roff(usage_of(app, name)));
  out += described_list("COMMANDS", commands_of(app)) + described_list("ARGUMENTS", arguments_of(app)) +
         described_list("OPTIONS", options_of(app));
  if (!app.get_footer().empty()) out += ".SH EXAMPLES\n.nf\n" + roff(app.get_footer()) + ".fi\n";
  return out + described_list("EXIT STATUS", exit_statuses()) + ".SH SEE ALSO\n" + roff(see) + "\n";
}

// The standard locations of Debian and most other systems, below PREFIX/share.
void write_all(const CLI::App& app, const std::string& folder) {
  const auto write = [&](const std::string& name, const std::string& text) {
    const fs::path path = fs::path(folder) / name;
    make_folder(path.parent_path().string());
    write_text(path.string(), text);
  };
  write("man/man1/braintrace.1", manual_page(app));
  for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; }))
    write("man/man1/braintrace-" + c->get_name() + ".1", manual_page(app, *c));
  write("bash-completion/completions/braintrace", bash_completion(app));
  write("zsh/site-functions/_braintrace", zsh_completion(app));
  write("fish/vendor_completions.d/braintrace.fish", fish_completion(app));
}

}  // namespace

std::string manual_page(const CLI::App& app) {
  std::string see;
  for (const HelpEntry& c : commands_of(app))
    see += fmt::format("{}braintrace-{}(1)", see.empty() ? "" : ", ", c.names);
  return page(app, "braintrace", "braintrace", see);
}

std::string manual_page(const CLI::App&, const CLI::App& command) {
  return page(command, "braintrace-" + command.get_name(), "braintrace " + command.get_name(), "braintrace(1)");
}

void add_completion(CLI::App& app, Action& chosen) {
  auto  shell   = std::make_shared<std::string>();
  auto* command = app.add_subcommand("completion", "Print a shell completion script");
  command->add_option("SHELL", *shell, "Shell: bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "  eval \"$(braintrace completion bash)\"\n"
      "  braintrace completion fish > ~/.config/fish/completions/braintrace.fish\n");
  command->callback([shell, &app, &chosen] {
    chosen = [shell, &app] {
      fmt::print("{}", *shell == "bash"  ? bash_completion(app)
                       : *shell == "zsh" ? zsh_completion(app)
                                         : fish_completion(app));
      return 0;
    };
  });
}

void add_man(CLI::App& app, Action& chosen) {
  auto  name    = std::make_shared<std::string>();
  auto  folder  = std::make_shared<std::string>();
  auto* command = app.add_subcommand("man", "Print a manual page, or write all of them with the shell completions");
  command->add_option("COMMAND", *name, "Command to describe (default: braintrace itself)");
  command
      ->add_option("--install", *folder,
                   "Write all manual pages and completions below this folder, such as ~/.local/share")
      ->type_name("FOLDER");
  command->footer("  braintrace man train | man -l -\n  braintrace man --install ~/.local/share\n");
  command->callback([name, folder, &app, &chosen] {
    chosen = [name, folder, &app] {
      if (!folder->empty())
        write_all(app, *folder);
      else if (name->empty())
        fmt::print("{}", manual_page(app));
      else
        fmt::print("{}", manual_page(app, command_named(app, *name)));
      return 0;
    };
  });
}

}  // namespace braintrace::cli
