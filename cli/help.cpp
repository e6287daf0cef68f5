// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/algorithms/registry.h"
#include "braintrace/base/ascii.h"
#include "braintrace/tasks/task.h"
#include "braintrace/zoo/model.h"

namespace braintrace::cli {

namespace {

// Characters, not bytes: continuation bytes of UTF-8 take no room.
size_t columns(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

size_t terminal_width() {
  constexpr size_t narrow = 40, wide = 100, usual = 80;
  size_t           width = 0;
  if (const char* given = std::getenv("COLUMNS")) std::from_chars(given, given + std::strlen(given), width);
  winsize size{};
  if (width == 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  return std::clamp(width == 0 ? usual : width, narrow, wide);
}

// The words of a text in lines of at most `width` columns; all but the first are indented.
std::string wrapped(const std::string& text, size_t width, size_t indent) {
  std::string        out, word;
  size_t             at = indent;
  std::istringstream words(text);
  while (words >> word) {
    if (at > indent && at + 1 + columns(word) > width) {
      out += "\n" + std::string(indent, ' ');
      at = indent;
    }
    if (at > indent) out += " ", ++at;
    out += word;
    at += columns(word);
  }
  return out;
}

std::string section(const std::string& title, const std::vector<HelpEntry>& entries) {
  return entries.empty() ? "" : fmt::format("\n{}:\n{}", title, listed(entries));
}

// The words of a command, with text in quotes kept together.
std::vector<std::string> command_words(const std::string& text) {
  std::vector<std::string> out(1);
  char                     quote = 0;
  for (char c : text) {
    if (c == quote)
      quote = 0;
    else if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    if (quote == 0 && c == ' ')
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

// A line "  command    description", both indented; a command that is too long goes on in further lines, as shells
// allow after a backslash.
std::string example(const std::string& line, size_t width) {
  constexpr size_t indent = 6;
  if (columns(line) <= width) return line + "\n";
  const size_t gap = line.find("   ", 2);
  std::string  out = " ";
  size_t       at  = 1;
  for (const std::string& word : command_words(line.substr(2, gap == line.npos ? gap : gap - 2))) {
    if (at > indent && at + 1 + columns(word) + 2 > width) {
      out += " \\\n" + std::string(indent - 1, ' ');
      at = indent - 1;
    }
    out += " " + word;
    at += 1 + columns(word);
  }
  if (gap != line.npos) out += "\n" + std::string(indent, ' ') + wrapped(line.substr(gap), width, indent);
  return out + "\n";
}

std::string examples(const std::string& footer, size_t width) {
  std::string        out = "\nExamples:\n";
  std::istringstream lines(footer);
  for (std::string line; std::getline(lines, line);) out += example(line, width);
  return out;
}

// "FILE", "mse|cross_entropy", "N" for a whole number.
std::string value_name(const CLI::Option& o) {
  const std::string type = o.get_type_name();
  const size_t      open = type.find('{'), close = type.find('}');
  if (open != type.npos && close != type.npos) {
    std::string set = type.substr(open + 1, close - open - 1);
    std::replace(set.begin(), set.end(), ',', '|');
    return set;
  }
  const std::string word = type.substr(0, type.find_first_of(": "));
  return word == "INT" || word == "UINT" ? "N" : word == "FLOAT" ? "NUMBER" : word;
}

std::string described(const CLI::Option& o) {
  std::string text = o.get_description();
  if (!o.get_default_str().empty()) text += fmt::format(" (default: {})", o.get_default_str());
  return text;
}

}  // namespace

std::string listed(const std::vector<HelpEntry>& entries) {
  const size_t width      = terminal_width();
  const size_t most_names = std::min<size_t>(24, width / 3);  // longer ones get a line of their own
  size_t       column     = 0;
  for (const HelpEntry& e : entries)
    if (columns(e.names) <= most_names) column = std::max(column, columns(e.names));
  const size_t indent = 2 + column + 2;
  std::string  out;
  for (const HelpEntry& e : entries) {
    const size_t used = columns(e.names);
    out += "  " + e.names;
    out += used <= column ? std::string(indent - 2 - used, ' ') : "\n" + std::string(indent, ' ');
    out += wrapped(e.text, width, indent) + "\n";
  }
  return out;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> out;
  for (const std::string& s : option.get_snames()) out.push_back("-" + s);
  if (!option.get_lnames().empty()) out.push_back("--" + option.get_lnames()[0]);
  return out;
}

bool takes_value(const CLI::Option& option) { return !option.get_type_name().empty(); }

std::vector<HelpEntry> arguments_of(const CLI::App& app) {
  std::vector<HelpEntry> out;
  for (const CLI::Option* o : app.get_options())
    if (o->get_positional()) out.push_back({o->get_name(true), described(*o)});
  return out;
}

std::vector<HelpEntry> options_of(const CLI::App& app) {
  std::vector<HelpEntry> out;
  for (const CLI::Option* o : app.get_options()) {
    if (!o->nonpositional()) continue;
    std::string names = fmt::format("{}", fmt::join(names_of(*o), ", "));
    if (takes_value(*o)) names += " " + value_name(*o);
    out.push_back({names, described(*o)});
  }
  return out;
}

std::vector<HelpEntry> commands_of(const CLI::App& app) {
  std::vector<HelpEntry> out;
  for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; }))
    out.push_back({c->get_name(), c->get_description()});
  return out;
}

std::vector<HelpEntry> exit_statuses() {
  return {{"0", "success"},
          {"1", "a check failed: a goal was not reached, numbers differ, training diverged"},
          {"2", "bad input: a wrong option, a file that cannot be read, a model that cannot be trained"},
          {"3", "a bug in braintrace; please report it"},
          {"128+N", "stopped by signal N, after saving"}};
}

std::string usage_of(const CLI::App& app, const std::string& name) {
  std::string out = name;
  if (!commands_of(app).empty()) return out + " COMMAND [OPTIONS]";
  out += " [OPTIONS]";
  for (const CLI::Option* o : app.get_options())
    if (o->get_positional()) {
      const std::string many = o->get_expected_max() > 1 ? "..." : "";
      out += o->get_required() ? " " + o->get_name(true) + many : " [" + o->get_name(true) + many + "]";
    }
  return out;
}

std::vector<std::string> values_of(const CLI::Option& option) {
  const std::string        name = option.get_positional() ? option.get_name(true) : option.get_name();
  std::vector<std::string> out;
  if (name == "MODEL")
    for (const auto& m : zoo::builtin_models()) out.push_back(m.name);
  else if (name == "TASK")
    for (const auto& t : tasks::task_types()) out.push_back(t.name);
  else if (name == "--rule" || name == "--rules")
    for (const Algorithm& a : algorithms()) out.emplace_back(a.name);
  else if (name == "--backend")
    out = {"cpu", "reference", "cuda", "auto"};
  std::istringstream alternatives(value_name(option));  // words in lower case: "mse|cross_entropy", "FILE|auto"
  for (std::string value; std::getline(alternatives, value, '|');)
    if (!value.empty() && to_lower(value[0]) == value[0]) out.push_back(value);
  return out;
}

bool takes_file(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true) != "SHELL" && option.get_name(true) != "COMMAND";
  const std::string value = value_name(option);
  return value.find("FILE") != value.npos || value.find("FOLDER") != value.npos || value.ends_with(".json");
}

std::string Help::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const {
  const size_t width = terminal_width();
  if (name.empty()) name = app->get_name();
  std::string out = "Usage: " + wrapped(usage_of(*app, name), width, 7) + "\n\n";
  out += wrapped(app->get_description(), width, 0) + "\n";
  out += section("Commands", commands_of(*app)) + section("Arguments", arguments_of(*app)) +
         section("Options", options_of(*app));
  if (!app->get_footer().empty()) out += examples(app->get_footer(), width);
  return out + section("Exit status", exit_statuses());
}

}  // namespace braintrace::cli
