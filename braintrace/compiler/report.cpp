// SPDX-License-Identifier: Apache-2.0
#include "braintrace/compiler/report.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/base/lists.h"
#include "braintrace/compiler/trace_type.h"

namespace braintrace {

namespace {

bool excludes(DiagnosticKind kind) {
  switch (kind) {
    case DiagnosticKind::RelationExcludedNoParamState:
    case DiagnosticKind::RelationExcludedNonTemporal:
    case DiagnosticKind::RelationExcludedShapeMismatch:
    case DiagnosticKind::RelationExcludedWeightToWeight:
    case DiagnosticKind::RelationExcludedSlicedWeight:
      return true;
    default:
      return false;
  }
}

// The readers of a parameter that no trainable operation reads as a weight, and the consequences.
std::string why_untraced(const ModuleInfo& info, const Path& path) {
  std::set<Var> leaves;
  for (const WeightVar& w : info.weights)
    if (w.path == path) leaves.insert(w.var);
  std::vector<std::string> plain, trainable;  // functions
  for (const Eqn& e : info.program().eqns) {
    const bool reads = std::any_of(e.in.begin(), e.in.end(), [&](Var v) { return leaves.count(v) > 0; });
    auto&      names = e.op->etp ? trainable : plain;
    if (reads && !contains(names, e.op->called())) names.emplace_back(e.op->called());
  }
  if (plain.empty() && trainable.empty()) return "the step of the model does not use it";
  std::vector<std::string> parts;
  if (!plain.empty())
    parts.push_back(fmt::format("read by {}, which is not a trainable (ETP) operation", fmt::join(plain, ", ")));
  if (!trainable.empty())
    parts.push_back(fmt::format("read by {} as data, not as its weight", fmt::join(trainable, ", ")));
  return fmt::format("{}: only the current step's gradient", fmt::join(parts, ", and "));
}

std::string tuples(const std::vector<Path>& paths) {
  std::string out;
  for (const Path& p : paths) out += (out.empty() ? "" : ", ") + p.tuple();
  return out;
}

std::string groups_text(const std::vector<int>& groups) {
  return groups.size() == 1 ? fmt::format("hidden group {}", groups[0])
                            : fmt::format("hidden groups [{}]", fmt::join(groups, ", "));
}

std::string section(const std::string& heading, const std::vector<std::string>& items) {
  std::string out = heading + "\n\n";
  for (const std::string& item : items) out += "   " + item + "\n";
  return out + "\n\n";
}

std::vector<std::string> group_items(const ETraceGraph& graph) {
  std::vector<std::string> items;
  for (const HiddenGroup& g : graph.hidden_groups) {
    items.push_back(fmt::format("Group {}: [{}]", g.index, tuples(g.hidden_paths)));
    items.push_back(fmt::format("         {} state{} at each position of {}{}", g.num_state,
                                g.num_state == 1 ? "" : "s", to_string(g.varshape),
                                g.diagonal ? "" : "; positions depend on each other"));
    if (g.num_state > 1)
      items.push_back(fmt::format("         order of the states: {}", fmt::join(g.state_names(), ", ")));
  }
  return items;
}

std::string leaves_text(const ModuleInfo& info, const HiddenParamOpRelation& r) {
  std::string out;
  for (const Trainable& t : r.trainables) {
    std::string leaves;
    for (int i : t.leaves) {
      const WeightVar& w = info.weights[static_cast<size_t>(i)];
      leaves += (leaves.empty() ? "" : " and ") + (w.path == r.weight_path ? "" : w.path.str() + " ") +
                to_string(info.program().type(w.var));
    }
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", t.key, leaves);
    if (!t.chain_ops.empty()) out += fmt::format(" through {}", fmt::join(t.chain_ops, ", "));
  }
  return out;
}

int64_t trace_bytes(const ETraceGraph& graph, const HiddenParamOpRelation& r) {
  int64_t bytes = 0;
  for (const Connection& c : r.connections)
    if (c.path != PathClass::Windowed)
      for (const Trainable& t : r.trainables) {
        const Type type = trace_type(r, c, t, graph.hidden_groups[static_cast<size_t>(c.group)]);
        bytes += type.bytes();
      }
  return bytes;
}

// The weights with a trace, or those that learn inside a window only.
std::vector<std::string> relation_items(const ETraceGraph& graph, bool traced) {
  std::vector<std::string> items;
  for (const HiddenParamOpRelation& r : graph.hidden_param_op_relations) {
    if (r.carries_trace() != traced) continue;
    const std::string index = fmt::format("Weight {}: ", items.size() / 2);
    std::string       line =
        fmt::format("{}{} → {} → {}", index, r.weight_path.tuple(), r.primitive(), groups_text(r.group_indices()));
    if (r.descent) line += fmt::format(", in each of {} substeps", r.descent->length);
    std::string below = leaves_text(graph.module_info, r);
    if (!traced) {
      if (!r.through.empty()) line += ", through " + tuples(r.through);
    } else {
      std::vector<int> windowed;
      for (const Connection& c : r.connections)
        if (c.path == PathClass::Windowed) windowed.push_back(c.group);
      if (!windowed.empty()) line += fmt::format(" ({} inside a window)", groups_text(windowed));
      below += fmt::format("; trace {}", human_bytes(trace_bytes(graph, r)));
    }
    items.push_back(line);
    items.push_back(std::string(index.size(), ' ') + below);
  }
  return items;
}

}  // namespace

std::vector<std::pair<int, std::vector<Path>>> CompilationReport::hidden_groups() const {
  std::vector<std::pair<int, std::vector<Path>>> out;
  for (const HiddenGroup& g : graph_.hidden_groups) out.emplace_back(g.index, g.hidden_paths);
  return out;
}

std::vector<CompilationReport::EtraceWeight> CompilationReport::etrace_weights() const {
  std::vector<EtraceWeight> out;
  for (const HiddenParamOpRelation& r : graph_.hidden_param_op_relations)
    for (const Trainable& t : r.trainables) {
      std::set<Path> paths;  // a chain may join several parameters in one operand
      for (int i : t.leaves) {
        const Path& path = graph_.module_info.weights[static_cast<size_t>(i)].path;
        if (paths.insert(path).second) out.push_back({path, t.key, r.group_indices(), !r.carries_trace()});
      }
    }
  return out;
}

std::vector<CompilationReport::ExcludedWeight> CompilationReport::excluded_weights() const {
  std::set<Path> related;
  for (const EtraceWeight& w : etrace_weights()) related.insert(w.path);
  std::vector<ExcludedWeight> out;
  for (const auto& [path, state] : graph_.module_info.states) {
    if (!state.is_param() || related.count(path)) continue;
    ExcludedWeight w{path, std::nullopt, ""};
    for (const CompilationRecord& r : graph_.diagnostics)
      if (!w.reason && r.weight_path == path && excludes(r.kind)) w.reason = r.kind, w.why = r.message;
    if (!w.reason) w.why = why_untraced(graph_.module_info, path);
    out.push_back(std::move(w));
  }
  return out;
}

std::vector<Path> CompilationReport::dynamic_states() const {
  std::vector<Path> out;
  for (const auto& [path, state] : graph_.module_info.states) {
    const auto holds = [&, &path = path](const HiddenGroup& g) {
      return std::find(g.hidden_paths.begin(), g.hidden_paths.end(), path) != g.hidden_paths.end();
    };
    const bool short_term = state.kind() == StateKind::ShortTerm || state.is_hidden();
    if (short_term && std::none_of(graph_.hidden_groups.begin(), graph_.hidden_groups.end(), holds))
      out.push_back(path);
  }
  return out;
}

CompilationReport::Counts CompilationReport::counts() const {
  Counts c{graph_.hidden_groups.size(), etrace_weights().size(), excluded_weights().size()};
  for (const CompilationRecord& r : graph_.diagnostics) {
    c.warnings += r.level == DiagnosticLevel::Warning;
    c.errors += r.level == DiagnosticLevel::Error;
  }
  return c;
}

std::string CompilationReport::to_str(int level) const {
  std::string out = section("The hidden groups are:", group_items(graph_));

  std::vector<std::string> states;
  for (const Path& p : dynamic_states()) {
    const bool empty = !graph_.explain({.hidden_path = p, .kind = DiagnosticKind::StateHoldsNothing}).empty();
    states.push_back(fmt::format("Dynamic state {}: {}{}", states.size(), p.tuple(),
                                 empty ? "; nothing reads its old value, so credit passes through it" : ""));
  }
  if (!states.empty()) out += section("The dynamic states (without traces) are:", states);

  const auto relations = relation_items(graph_, true), windowed = relation_items(graph_, false);
  if (!relations.empty()) out += section("The weights associated with hidden groups are:", relations);
  if (!windowed.empty()) out += section("The weights that learn inside a window, without a trace, are:", windowed);

  std::vector<std::string> others;
  for (const ExcludedWeight& w : excluded_weights()) {
    const std::string index = fmt::format("Weight {}: ", others.size() / 2);
    others.push_back(index + w.path.tuple() + (w.reason ? fmt::format(" (excluded: {})", name_of(*w.reason)) : ""));
    others.push_back(std::string(index.size(), ' ') + w.why);
  }
  if (!others.empty()) out += section("The weights without a trace are:", others);

  if (level < 2) return out;
  std::vector<std::string> records;
  for (const CompilationRecord& r : graph_.diagnostics)
    if (r.level != DiagnosticLevel::Info)
      records.push_back(fmt::format("[{}] {}: {}", name_of(r.level), name_of(r.kind), r.message));
  if (!records.empty()) out += section("The warnings and errors are:", records);
  return out;
}

std::string show_graph(const ETraceGraph& graph) { return CompilationReport(graph).to_str(); }

std::string human_bytes(int64_t bytes) {
  constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  auto                  value   = static_cast<double>(bytes);
  size_t                unit    = 0;
  for (; value >= 999.5 && unit + 1 < std::size(units); ++unit) value /= 1000;
  const int decimals = unit == 0 || value >= 99.95 ? 0 : 1;
  return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

}  // namespace braintrace
