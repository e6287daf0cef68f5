// SPDX-License-Identifier: Apache-2.0
// Shell completions: commands, their options, and known values. Everything else completes as a file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/help.h"
#include "cli/manual.h"

namespace braintrace::cli {

namespace {

std::vector<const CLI::App*> all_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// Single quotes for a shell: ' becomes '\''. A description is cut at its first sentence.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text.substr(0, text.find("; "))) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string              options, values;
  std::vector<std::string> names;
  for (const CLI::App* c : all_commands(app)) {
    names.push_back(c->get_name());
    std::vector<std::string> all, arguments;
    for (const CLI::Option* o : c->get_options()) {
      const auto own   = names_of(*o);
      const auto known = values_of(*o);
      all.insert(all.end(), own.begin(), own.end());
      if (o->get_positional()) {
        arguments.insert(arguments.end(), known.begin(), known.end());
      } else if (takes_value(*o)) {
        std::vector<std::string> cases;
        for (const std::string& w : own) cases.push_back(fmt::format("\"{} {}\"", c->get_name(), w));
        values += fmt::format("    {}) words=\"{}\"; value=1 ;;\n", fmt::join(cases, "|"), fmt::join(known, " "));
      }
    }
    options += fmt::format("    {}) options=\"{}\"; arguments=\"{}\" ;;\n", c->get_name(), fmt::join(all, " "),
                           fmt::join(arguments, " "));
  }
  return fmt::format(R"(# bash completion for braintrace; written by: braintrace completion bash
_braintrace() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local words= value= options= arguments=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{} --help --version" -- "$current"))
    return
  fi
  case "${{COMP_WORDS[1]}} $before" in
{}  esac
  case "${{COMP_WORDS[1]}}" in
{}  esac
  if [ -z "$value" ]; then
    case "$current" in
      -*) COMPREPLY=($(compgen -W "$options" -- "$current")); return ;;
    esac
    words=$arguments
  fi
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current"))
}}
complete -F _braintrace braintrace
)",
                     fmt::join(names, " "), values, options);
}

std::string zsh_completion(const CLI::App& app) {
  const auto inside = [](const std::string& text) {  // of [ ] and : in a specification
    std::string out;
    for (char c : text.substr(0, text.find("; "))) {
      if (c == '[' || c == ']' || c == ':') out += '\\';
      out += c;
    }
    return out;
  };
  std::string names, cases;
  for (const CLI::App* c : all_commands(app)) {
    names += "    " + quoted(c->get_name() + ":" + inside(c->get_description())) + "\n";
    cases += fmt::format("    {})\n      _arguments", c->get_name());
    for (const CLI::Option* o : c->get_options()) {
      const auto        known = values_of(*o);
      const std::string value = known.empty() ? "_files" : fmt::format("({})", fmt::join(known, " "));
      if (o->get_positional())
        cases += " \\\n        " + quoted(fmt::format("*:{}:{}", o->get_name(true),
                                                      known.empty() ? "_files" : "_braintrace_" + o->get_name(true)));
      for (const std::string& w : names_of(*o))
        cases += " \\\n        " + quoted(fmt::format("{}[{}]{}", w, inside(o->get_description()),
                                                      takes_value(*o) ? ":value:" + value : ""));
    }
    cases += " ;;\n";
  }
  std::string named;  // arguments that are names or files
  for (const char* argument : {"MODEL", "TASK"})
    for (const CLI::App* c : all_commands(app)) {
      const CLI::Option* o = c->get_option_no_throw(argument);
      if (!o || named.find(fmt::format("_{}()", argument)) != named.npos) continue;
      named += fmt::format("_braintrace_{}() {{ _alternative 'names:name:({})' 'files:file:_files' }}\n", argument,
                           fmt::join(values_of(*o), " "));
    }
  return fmt::format(R"(#compdef braintrace
# zsh completion for braintrace; written by: braintrace completion zsh
{}_braintrace() {{
  local -a commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local chosen=$words[2]
  shift words
  (( CURRENT-- ))
  case $chosen in
{}  esac
}}
_braintrace "$@"
)",
                     named, names, cases);
}

std::string fish_completion(const CLI::App& app) {
  std::string out = "# fish completion for braintrace; written by: braintrace completion fish\n";
  for (const CLI::App* c : all_commands(app))
    out += fmt::format("complete -c braintrace -n __fish_use_subcommand -f -a {} -d {}\n", c->get_name(),
                       quoted(c->get_description()));
  for (const CLI::App* c : all_commands(app))
    for (const CLI::Option* o : c->get_options()) {
      const auto known = values_of(*o);
      out += fmt::format("complete -c braintrace -n '__fish_seen_subcommand_from {}'", c->get_name());
      for (const std::string& w : names_of(*o)) out += w.starts_with("--") ? " -l " + w.substr(2) : " -s " + w.substr(1);
      if (!known.empty()) out += fmt::format(" -a '{}'", fmt::join(known, " "));
      if (!o->get_positional() && takes_value(*o)) out += " -r";
      out += " -d " + quoted(o->get_description()) + "\n";
    }
  return out;
}

}  // namespace braintrace::cli
