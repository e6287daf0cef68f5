// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/counted.h"
#include "braintrace/base/json.h"
#include "braintrace/compiler/report.h"
#include "braintrace/fidelity/fidelity.h"

namespace braintrace {

namespace {

std::string time_text(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.0f} µs", seconds * 1e6) : fmt::format("{:.1f} ms", seconds * 1e3);
}
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

size_t width_of(const std::vector<std::string>& texts, size_t at_least) {
  for (const std::string& t : texts) at_least = std::max(at_least, t.size());
  return at_least;
}

nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}
nlohmann::ordered_json as_json(const Closeness& c) {
  return {{"cosine", number_or_null(c.cosine)}, {"norm_ratio", number_or_null(c.norm_ratio)}};
}

}  // namespace

std::string fidelity_table(const FidelityReport& r) {
  std::string  out  = fmt::format("{}: {} of {}, against BPTT over all of them\n\n", r.model, counted(r.steps, "step"),
                                  to_string(r.input));
  const size_t wide = width_of(r.parameters, 9);
  out += "cosine (norm ratio) of each parameter\n";
  for (const RuleFidelity& f : r.rules) {
    if (!f.left_out.empty()) continue;
    out += fmt::format("\n{}{}{}, window {}\n", f.rule, f.setting.empty() ? "" : ", ", f.setting, f.window);
    for (size_t p = 0; p < r.parameters.size(); ++p)
      out += fmt::format("  {:<{}} {:>7.3f} ({:.2f}){}\n", r.parameters[p], wide, f.parameters[p].cosine,
                         f.parameters[p].norm_ratio, r.windowed[p] ? "  learns inside a window" : "");
  }
  // Last, so that it is what a terminal shows.
  out += fmt::format("\n{:<16} {:<10} {:>6} {:>7} {:>6} {:>9} {:>9}  ", "rule", "setting", "window", "cosine", "ratio",
                     "traces", "per step");
  for (const std::string& layer : r.layers) out += fmt::format(" {:>{}}", layer, std::max<size_t>(layer.size(), 6));
  out += "\n";
  for (const RuleFidelity& f : r.rules) {
    out += fmt::format("{:<16} {:<10} {:>6} ", f.rule, f.setting, f.window);
    if (!f.left_out.empty()) {
      out += fmt::format("left out: {}\n", first_line(f.left_out));
      continue;
    }
    // The micro sign is two bytes and one character.
    const std::string time = time_text(f.seconds_per_step);
    out += fmt::format("{:>7.3f} {:>6.2f} {:>9} {:>{}}  ", f.all.cosine, f.all.norm_ratio, human_bytes(f.trace_bytes),
                       time, time.find("µ") == std::string::npos ? 9 : 10);
    for (size_t l = 0; l < r.layers.size(); ++l)
      out += fmt::format(" {:>{}.3f}", f.layers[l].cosine, std::max<size_t>(r.layers[l].size(), 6));
    out += "\n";
  }
  return out;
}

std::string fidelity_json(const FidelityReport& r) {
  using nlohmann::ordered_json;
  ordered_json j = {{"schema", "braintrace-fidelity/1"},
                    {"model", r.model},
                    {"input", to_string(r.input)},
                    {"steps", r.steps},
                    {"layers", r.layers},
                    {"parameters", ordered_json::array()},
                    {"rules", ordered_json::array()}};
  for (size_t p = 0; p < r.parameters.size(); ++p)
    j["parameters"].push_back(
        {{"name", r.parameters[p]}, {"windowed", static_cast<bool>(r.windowed[p])}, {"exact_norm", r.norms[p]}});
  for (const RuleFidelity& f : r.rules) {
    ordered_json one = {{"rule", f.rule}, {"setting", f.setting}, {"window", f.window}};
    if (!f.left_out.empty()) {
      one["left_out"] = f.left_out;
    } else {
      one.update(as_json(f.all));
      one["trace_bytes"]      = f.trace_bytes;
      one["seconds_per_step"] = f.seconds_per_step;
      for (size_t l = 0; l < r.layers.size(); ++l) one["layers"][r.layers[l]] = as_json(f.layers[l]);
      for (size_t p = 0; p < r.parameters.size(); ++p) one["parameters"][r.parameters[p]] = as_json(f.parameters[p]);
    }
    j["rules"].push_back(one);
  }
  return json_text(j, 2) + "\n";
}

}  // namespace braintrace
