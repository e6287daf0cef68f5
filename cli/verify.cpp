// SPDX-License-Identifier: Apache-2.0
// braintrace verify: runs recorded cases and compares with what was recorded.
#include "braintrace/verify/verify.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "braintrace/base/counted.h"
#include "braintrace/base/json.h"
#include "braintrace/compiler/diagnostics.h"
#include "braintrace/runtime/backend.h"
#include "braintrace/viz/escape.h"
#include "cli/backend_choice.h"
#include "cli/command.h"

namespace braintrace::cli {

namespace {

using golden::CaseReport;
using golden::Comparison;
using nlohmann::ordered_json;

struct VerifyArguments {
  std::vector<std::string> paths;
  BackendChoice            backend;
  bool                     verbose = false, json = false;
};

struct Tally {
  size_t                        passed = 0, failed = 0, left_out = 0, broken = 0;  // cases
  size_t                        facts = 0, arrays = 0;
  double                        worst = 0;  // error of an array, in tolerances
  std::map<std::string, size_t> reasons;    // of what was left out

  void add(const CaseReport& r) {
    ++(r.status() == CaseReport::Status::Passed   ? passed
       : r.status() == CaseReport::Status::Failed ? failed
                                                  : left_out);
    for (const Comparison& c : r.compared) {
      ++(c.is_array ? arrays : facts);
      if (c.is_array) worst = std::max(worst, c.error / c.tolerance);
    }
    for (const auto& l : r.left_out) ++reasons[l.reason];
  }
  size_t cases() const { return passed + failed + left_out + broken; }
};

std::string indented(const std::string& text, const std::string& by) {
  std::string out = by;
  for (char c : text) {
    out += c;
    if (c == '\n') out += by;
  }
  return out;
}

void print_case(const CaseReport& r, bool verbose) {
  const bool failed = r.status() == CaseReport::Status::Failed;
  fmt::print("{:<9} {}  ({} compared, {} skipped)\n", name_of(r.status()), utf8(r.name), r.compared.size(),
             r.left_out.size());
  for (const Comparison& c : r.compared) {
    if (!verbose && (!failed || c.equal())) continue;
    fmt::print("    {} {}", c.equal() ? "ok  " : "MISS", utf8(c.what));
    if (c.is_array) fmt::print("  error {:.2e}, tolerance {:.0e}", c.error, c.tolerance);
    fmt::print("\n");
    if (!c.difference.empty()) fmt::print("{}\n", indented(utf8(c.difference), "         "));
  }
  if (verbose)
    for (const auto& l : r.left_out) fmt::print("    skipped {}: {}\n", l.what, l.reason);
}

void print_summary(const Tally& t) {
  fmt::print("\n{}: {} passed, {} failed, {} skipped, {} broken\n", counted(t.cases(), "case"), t.passed, t.failed,
             t.left_out, t.broken);
  fmt::print("compared: {}, {}", counted(t.facts, "fact"), counted(t.arrays, "array"));
  if (t.arrays > 0) fmt::print(" (worst error {:.2g} of its tolerance)", t.worst);
  fmt::print("\n");
  for (const auto& [reason, count] : t.reasons) fmt::print("skipped: {} × {}\n", count, reason);
}

ordered_json as_json(const CaseReport& r) {
  ordered_json j = {{"case", r.name}, {"file", r.file}, {"status", name_of(r.status())}};
  j["compared"]  = ordered_json::array();
  j["left_out"]  = ordered_json::array();
  for (const Comparison& c : r.compared) {
    ordered_json one = {{"what", c.what}, {"equal", c.equal()}};
    if (c.is_array) one["error"] = c.error, one["tolerance"] = c.tolerance;
    if (!c.difference.empty()) one["difference"] = c.difference;
    j["compared"].push_back(one);
  }
  for (const auto& l : r.left_out) j["left_out"].push_back({{"what", l.what}, {"reason", l.reason}});
  return j;
}

ordered_json as_json(const Tally& t) {
  return {{"cases", t.cases()},  {"passed", t.passed}, {"failed", t.failed}, {"left_out", t.left_out},
          {"broken", t.broken},  {"facts", t.facts},   {"arrays", t.arrays}, {"worst_error_in_tolerances", t.worst},
          {"reasons", t.reasons}};
}

int run_verify(const VerifyArguments& o) {
  o.backend.apply();
  prefer_backend("reference");  // most programs run a few times only
  std::vector<std::string> files;
  for (const std::string& path : o.paths)
    for (const std::string& file : golden::find_cases(path)) files.push_back(file);
  Tally        tally;
  ordered_json reports = ordered_json::array();
  for (const std::string& file : files) {
    try {
      const CaseReport r = golden::verify_case(golden::load_case(file));
      tally.add(r);
      if (o.json)
        reports.push_back(as_json(r));
      else
        print_case(r, o.verbose);
    } catch (const UserError& error) {
      ++tally.broken;
      say("error: {}\n", error.what());
      if (o.json) reports.push_back({{"file", file}, {"status", "broken"}, {"message", error.what()}});
    }
  }
  if (o.json)
    fmt::print("{}\n", json_text(ordered_json{{"cases", reports}, {"summary", as_json(tally)}}, 2));
  else
    print_summary(tally);
  return tally.broken > 0 ? 2 : tally.failed > 0 ? 1 : 0;
}

}  // namespace

void add_verify(CLI::App& app, Action& chosen) {
  auto  options = std::make_shared<VerifyArguments>();
  auto* command = app.add_subcommand("verify", "Replay recorded cases and compare the numbers");
  command->add_option("CASE", options->paths, "Case files, or folders to search for them")->required();
  options->backend.add_options(*command);
  command->add_flag("--verbose", options->verbose,
                    "Print every comparison with its worst error, and everything that was skipped");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("  braintrace verify tests/data/golden\n");
  command->callback([options, &chosen] { chosen = [options] { return run_verify(*options); }; });
}

}  // namespace braintrace::cli
