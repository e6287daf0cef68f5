// SPDX-License-Identifier: Apache-2.0
// Graph cases: what the compiler finds in a model, in every recorded compilation. The compiler decides as the package
// that recorded them did (CompileOptions::reference).
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "braintrace/compiler/graph.h"
#include "braintrace/verify/graph_facts.h"
#include "braintrace/verify/verify.h"

namespace braintrace::golden {

namespace {

// "include_recurrent_mixing=True+sparse_n=2"
CompileOptions options_of(const std::string& compilation) {
  CompileOptions o = CompileOptions::reference();
  if (compilation == "default") return o;
  for (size_t at = 0; at < compilation.size();) {
    const size_t      end  = std::min(compilation.find('+', at), compilation.size());
    const std::string item = compilation.substr(at, end - at);
    const size_t      eq   = item.find('=');
    const std::string key = item.substr(0, eq), value = eq == std::string::npos ? "" : item.substr(eq + 1);
    if (key == "include_recurrent_mixing")
      o.include_recurrent_mixing = value == "True";
    else if (key == "include_hidden_perturb")
      o.include_hidden_perturb = value == "True";
    else if (key == "sparse_n" && value.find_first_not_of("0123456789") == std::string::npos && !value.empty())
      o.sparse_n = std::stoi(value);
    else
      fail("compilation '{}': there is no option '{}'.", compilation, item);
    at = end + 1;
  }
  return o;
}

// What a case records and we do not compare, by the name of the field, at any depth.
const std::map<std::string, std::string> not_compared = {
    {"message", "wording"},
    {"report_text_level1", "wording"},
    {"unit", "values are bare numbers"},
    {"n_transition_constvars", "internals of the package that recorded it"},
    {"n_outvars_after_hoisting", "internals of the package that recorded it"},
};

void remove_not_compared(json& j, std::set<std::string>& removed) {
  if (j.is_object())
    for (const auto& entry : not_compared)
      if (j.erase(entry.first) > 0) removed.insert(entry.first);
  if (j.is_structured())
    for (json& inner : j) remove_not_compared(inner, removed);
}

// Both sides of a compilation, brought to what they can share.
struct Compilation {
  std::string name;
  json        found, recorded;
  CaseReport& report;

  void leave_out(const std::string& what, const std::string& reason) { report.leave_out(name + "." + what, reason); }

  // An opaque region is recorded once per pass, without its state and with a warning about a detached loop; we record
  // it once and detach nothing. The order of records is free.
  void align_records() {
    const auto align = [](json& side) {
      std::set<json> once;
      json           kept = json::array();
      for (json record : side.at("diagnostics")) {
        if (record.at("kind") == "control_flow_opaque_fwd") {
          record["hidden_paths"] = json::array();
          record["level"]        = "info";
          if (!once.insert(record).second) continue;
        }
        if (record.at("kind") != "snap_pattern_conservative") kept.push_back(record);
      }
      std::sort(kept.begin(), kept.end());
      side["diagnostics"] = kept;
      side["counts"]["warnings"] =
          std::count_if(kept.begin(), kept.end(), [](const json& r) { return r["level"] == "warning"; });
    };
    align(found);
    align(recorded);
  }

  // Where the recorded SnAp pattern is an upper bound (all pairs, other samples included), ours must lie within it.
  void align_upper_bounds() {
    for (const json& record : recorded.at("diagnostics")) {
      if (record.at("kind") != "snap_pattern_conservative") continue;
      for (size_t g = 0; g < std::min(found["hidden_groups"].size(), recorded.at("hidden_groups").size()); ++g) {
        json &ours = found["hidden_groups"][g], &theirs = recorded["hidden_groups"][g];
        if (theirs.at("hidden_paths") != record.at("hidden_paths") || ours["snap"].is_null()) continue;
        report.fact(fmt::format("{}.hidden_groups/{}/snap within the recorded bound", name, g),
                    ours["trace_state_width"] <= theirs.at("trace_state_width"), true);
        leave_out(fmt::format("hidden_groups/{}/snap", g), "an upper bound; ours is sharper or equal");
        theirs["snap"] = ours["snap"], theirs["trace_state_width"] = ours["trace_state_width"];
      }
    }
  }

  // A recorded step may add axes of one to a state; everything after it then has them.
  void align_shapes() {
    if (recorded.at("hidden_perturb").is_null()) return;
    const auto& paths  = recorded["hidden_perturb"].at("perturbed_hidden_paths");
    json&       shapes = recorded["hidden_perturb"].at("perturb_shapes");
    for (size_t i = 0; i < std::min(paths.size(), shapes.size()); ++i) {
      const json& state = recorded.at("module_info").at("states").at(paths[i].get<std::string>());
      json        grown = state.at("leaves").at(0).at("shape");
      if (shapes[i].size() <= grown.size()) continue;
      while (grown.size() < shapes[i].size()) grown.insert(grown.begin(), 1);
      if (grown != shapes[i]) continue;
      shapes[i] = state["leaves"][0]["shape"];
      leave_out("hidden_perturb/perturb_shapes", "the recorded step adds axes of one to a state");
      leave_out("diagnostics/primitive", "the recorded step adds axes of one to a state");
      for (json* side : {&found, &recorded})
        for (json& record : side->at("diagnostics")) record.erase("primitive");
    }
  }

  void compare() {
    std::set<std::string> removed;
    remove_not_compared(recorded, removed);
    for (const std::string& field : removed) leave_out(field, not_compared.at(field));
    align_upper_bounds();
    align_shapes();
    align_records();
    for (const auto& [field, want] : recorded.items()) {
      if (found.contains(field))
        report.fact(name + "." + field, found[field], want);
      else
        leave_out(field, "not known here");
    }
  }
};

void verify_compilation(const Case& c, const std::string& name, const json& recorded, CaseReport& report) {
  if (recorded.contains("error")) {
    report.leave_out(name, "the package that recorded it failed here");
    return;
  }
  auto        model = build_model(c);
  const Types args  = {{c.info.at("x_dtype") == "int" ? DType::I32 : DType::F32, c.info.at("x_shape").get<Shape>()}};
  try {
    const ETraceGraph graph = compile_etrace_graph(*model, args, options_of(name));
    Compilation{name, graph_facts(graph), recorded, report}.compare();
  } catch (const CompileError& error) {
    report.fact(name, error.what(), "compiled");
  }
}

}  // namespace

void verify_graph_case(const Case& c, CaseReport& report) {
  for (const auto& [name, recorded] : c.info.at("compilations").items()) verify_compilation(c, name, recorded, report);
}

}  // namespace braintrace::golden
