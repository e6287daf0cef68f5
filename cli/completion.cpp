// SPDX-License-Identifier: Apache-2.0
// Shell completions: commands, their options, known values, and files where an option or argument names one.
#include <map>

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

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::App* c : all_commands(app)) out.push_back(c->get_name());
  return out;
}

std::vector<std::string> known_values(const CLI::App& app, const CLI::Option& o) {
  return o.get_positional() && o.get_name(true) == "COMMAND" ? command_names(app) : values_of(o);
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string options, values;
  for (const CLI::App* c : all_commands(app)) {
    std::vector<std::string> all, arguments;
    bool                     has_files = false;
    for (const CLI::Option* o : c->get_options()) {
      const auto own   = names_of(*o);
      const auto known = known_values(app, *o);
      all.insert(all.end(), own.begin(), own.end());
      if (o->get_positional()) {
        arguments.insert(arguments.end(), known.begin(), known.end());
        has_files = has_files || takes_file(*o);
      } else if (takes_value(*o)) {
        std::vector<std::string> cases;
        for (const std::string& w : own) cases.push_back(fmt::format("\"{} {}\"", c->get_name(), w));
        values += fmt::format("    {}) words=\"{}\"; value=1; files={} ;;\n", fmt::join(cases, "|"),
                              fmt::join(known, " "), takes_file(*o) ? "1" : "");
      }
    }
    options += fmt::format("    {}) options=\"{}\"; arguments=\"{}\"; argument_files={} ;;\n", c->get_name(),
                           fmt::join(all, " "), fmt::join(arguments, " "), has_files ? "1" : "");
  }
  return fmt::format(R"(# bash completion for braintrace; written by: braintrace completion bash
_braintrace() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local words= value= files= options= arguments= argument_files=
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
    words=$arguments files=$argument_files
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ -n "$files" ]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen -f -- "$current"))
  fi
}}
complete -F _braintrace braintrace
)",
                     fmt::join(command_names(app), " "), values, options);
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
  std::map<std::string, std::string> functions;  // for names or files, by the option or argument
  const auto                         action = [&](const CLI::Option& o) -> std::string {
    const auto known = known_values(app, o);
    if (known.empty()) return takes_file(o) ? "_files" : " ";
    if (!takes_file(o)) return fmt::format("({})", fmt::join(known, " "));
    const std::string word = "_braintrace_" + (o.get_positional() ? o.get_name(true) : o.get_lnames()[0]);
    functions[word] =
        fmt::format("{}() {{ _alternative 'names:name:({})' 'files:file:_files' }}\n", word, fmt::join(known, " "));
    return word;
  };
  std::string names, cases;
  for (const CLI::App* c : all_commands(app)) {
    names += "    " + quoted(c->get_name() + ":" + inside(c->get_description())) + "\n";
    cases += fmt::format("    {})\n      _arguments", c->get_name());
    for (const CLI::Option* o : c->get_options()) {
      if (o->get_positional()) cases += " \\\n        " + quoted(fmt::format("*:{}:{}", o->get_name(true), action(*o)));
      for (const std::string& w : names_of(*o))
        cases += " \\\n        " + quoted(fmt::format("{}[{}]{}", w, inside(o->get_description()),
                                                      takes_value(*o) ? ":value:" + action(*o) : ""));
    }
    cases += " ;;\n";
  }
  std::string named;
  for (const auto& [word, function] : functions) named += function;
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
      const auto known = known_values(app, *o);
      out += fmt::format("complete -c braintrace -n '__fish_seen_subcommand_from {}'", c->get_name());
      for (const std::string& w : names_of(*o))
        out += w.starts_with("--") ? " -l " + w.substr(2) : " -s " + w.substr(1);
      if (!known.empty()) out += fmt::format(" -a '{}'", fmt::join(known, " "));
      if (!o->get_positional() && takes_value(*o)) out += " -r";
      if ((o->get_positional() || takes_value(*o)) && !takes_file(*o)) out += " -f";
      out += " -d " + quoted(o->get_description()) + "\n";
    }
  return out;
}

}  // namespace braintrace::cli
