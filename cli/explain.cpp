// SPDX-License-Identifier: Apache-2.0
// braintrace explain: prints the compiler's decisions about a model, filtered by weight, state or kind.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/json.h"
#include "braintrace/base/nearest.h"
#include "braintrace/compiler/graph.h"
#include "cli/command.h"
#include "cli/model_argument.h"

namespace braintrace::cli {

namespace {

struct ExplainArguments {
  ModelArgument model;
  std::string   weight, hidden, kind;
  bool          json = false;
};

std::vector<std::string> strings(const std::vector<Path>& paths) {
  std::vector<std::string> out;
  for (const Path& p : paths) out.push_back(p.str());
  return out;
}

// The path of the model that `text` names, in dotted form.
Path known_path(const std::string& option, const std::string& text, const std::vector<std::string>& known) {
  require(std::find(known.begin(), known.end(), text) != known.end(),
          "{} {}: the model has no such path{}\n  It has: {}.", option, text, hint(text, known),
          fmt::join(known, ", "));
  return Path::dotted(text);
}

Explain filter_of(const ExplainArguments& o, const ETraceGraph& graph) {
  std::vector<std::string> weights, hidden, kinds;
  for (const auto& [path, state] : graph.module_info.states) {
    if (state.is_param())
      weights.push_back(path.str());
    else
      hidden.push_back(path.str());
  }
  for (int i = 0; i < num_diagnostic_kinds; ++i) kinds.emplace_back(name_of(static_cast<DiagnosticKind>(i)));
  Explain filter;
  if (!o.weight.empty()) filter.weight_path = known_path("--weight", o.weight, weights);
  if (!o.hidden.empty()) filter.hidden_path = known_path("--hidden", o.hidden, hidden);
  if (!o.kind.empty()) {
    filter.kind = diagnostic_kind_named(o.kind);
    require(filter.kind.has_value(), "--kind {}: there is no such kind{}\n  Kinds: {}.", o.kind, hint(o.kind, kinds),
            fmt::join(kinds, ", "));
  }
  return filter;
}

void print_text(const Diagnostics& records) {
  for (const CompilationRecord& r : records) {
    fmt::print("[{}] {}\n    {}\n", name_of(r.level), name_of(r.kind), r.message);
    if (!r.weight_path.empty()) fmt::print("    weight     {}\n", r.weight_path.str());
    if (!r.primitive.empty()) fmt::print("    operation  {}\n", r.primitive);
    if (!r.hidden_paths.empty()) fmt::print("    states     {}\n", fmt::join(strings(r.hidden_paths), ", "));
    for (const auto& [key, text] : r.context) fmt::print("    {}: {}\n", key, text);
    fmt::print("\n");
  }
  if (records.empty()) fmt::print("The compiler has no matching record.\n");
}

void print_json(const Diagnostics& records) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const CompilationRecord& r : records)
    list.push_back({{"kind", name_of(r.kind)},
                    {"level", name_of(r.level)},
                    {"message", r.message},
                    {"primitive", r.primitive},
                    {"weight_path", r.weight_path.str()},
                    {"hidden_paths", strings(r.hidden_paths)},
                    {"context", r.context}});
  fmt::print("{}\n", json_text(list, 2));
}

int run_explain(const ExplainArguments& o) {
  const CompiledModel model   = compile_argument(o.model);
  const Diagnostics   records = model.graph.explain(filter_of(o, model.graph));
  o.json ? print_json(records) : print_text(records);
  return 0;
}

}  // namespace

void add_explain(CLI::App& app, Action& chosen) {
  auto  options = std::make_shared<ExplainArguments>();
  auto* command = app.add_subcommand(
      "explain", "Explain the compiler's decisions: which weights learn online, and why others do not");
  options->model.add_options(*command);
  command->add_option("--weight", options->weight, "Show only records about this weight, such as rnn.W.weight")
      ->type_name("PATH");
  command->add_option("--hidden", options->hidden, "Show only records about this state, such as rnn.h")
      ->type_name("PATH");
  command->add_option("--kind", options->kind, "Show only records of this kind, such as relation_included")
      ->type_name("KIND");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "  braintrace explain gru\n"
      "  braintrace explain gru --weight rnn.Wr.weight\n"
      "  braintrace explain gru --kind relation_included --json\n");
  command->callback([options, &chosen] { chosen = [options] { return run_explain(*options); }; });
}

}  // namespace braintrace::cli
