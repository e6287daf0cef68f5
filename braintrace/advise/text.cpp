// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/advise/advise.h"
#include "braintrace/base/ascii.h"
#include "braintrace/base/counted.h"
#include "braintrace/base/error.h"
#include "braintrace/base/json.h"

namespace braintrace {

namespace {

using nlohmann::ordered_json;

std::string form_text(const Candidate& c) {
  return c.form == Form::Step ? "step by step"
                              : fmt::format("{} {}", c.form == Form::Window ? "window" : "pieces of", c.window);
}

std::string duration(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.3g} µs", 1e6 * seconds)
         : seconds < 1  ? fmt::format("{:.3g} ms", 1e3 * seconds)
                        : fmt::format("{:.3g} s", seconds);
}

// Padded by characters, not bytes.
std::string right(const std::string& text, size_t width) {
  size_t letters = 0;
  for (char c : text) letters += (c & 0xC0) != 0x80;
  return std::string(letters < width ? width - letters : 0, ' ') + text;
}

// The first line, as far as it fits beside the rule.
std::string shortened(const std::string& text) {
  constexpr size_t  most = 84;
  const std::string line = text.substr(0, text.find('\n'));
  return line.size() <= most ? line : line.substr(0, line.rfind(' ', most)) + " …";
}

ordered_json json_of(const Cost& c) {
  ordered_json j = {{"rule", c.candidate.rule},
                    {"setting", c.candidate.setting},
                    {"form", name_of(c.candidate.form)},
                    {"steps_per_update", c.candidate.window}};
  if (!c.left_out.empty()) {
    j["left_out"] = c.left_out;
    return j;
  }
  const Memory& m   = c.memory;
  j["memory_bytes"] = m.total();
  j["memory"]       = {{"weights", m.weights}, {"optimizer", m.optimizer}, {"states", m.states},  {"traces", m.traces},
                       {"data", m.data},       {"work", m.work},           {"program", m.program}};
  j["flops_per_step"]   = c.flops_per_step;
  j["bytes_per_step"]   = c.bytes_per_step;
  j["seconds_per_step"] = c.seconds_per_step;
  if (c.measured_memory) j["measured_memory_bytes"] = *c.measured_memory;
  if (c.measured_seconds) j["measured_seconds_per_step"] = *c.measured_seconds;
  return j;
}

}  // namespace

std::string bytes_text(double bytes) {
  for (const auto& [unit, name] :
       {std::pair(1099511627776.0, "TiB"), {1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}})
    if (bytes >= unit)
      return fmt::format("{:.{}f} {}", bytes / unit, bytes < 10 * unit ? 2 : bytes < 100 * unit ? 1 : 0, name);
  return fmt::format("{} B", bytes);
}

int64_t bytes_in(const std::string& text) {
  double      number = 0;
  const char* last   = text.data() + text.size();
  const char* end    = std::from_chars(text.data(), last, number).ptr;
  std::string unit;
  for (; end != last; ++end)
    if (!is_space(*end)) unit += to_lower(*end);
  double factor = 0;
  for (const auto& [name, value] : {std::pair("", 1.0),
                                    {"b", 1.0},
                                    {"k", 1024.0},
                                    {"kb", 1e3},
                                    {"kib", 1024.0},
                                    {"m", 1048576.0},
                                    {"mb", 1e6},
                                    {"mib", 1048576.0},
                                    {"g", 1073741824.0},
                                    {"gb", 1e9},
                                    {"gib", 1073741824.0},
                                    {"t", 1099511627776.0},
                                    {"tb", 1e12},
                                    {"tib", 1099511627776.0}})
    if (unit == name) factor = value;
  require(factor > 0 && number > 0 && number * factor < 9e18,
          "'{}' is not an amount of memory; expected a number and a unit, such as 4GiB or 500 MB.", text);
  return static_cast<int64_t>(number * factor);
}

std::string advice_table(const Advice& a) {
  std::string out = fmt::format("{}, input {}, sequences of {}, Adam\n\n", a.model, to_string(a.input),
                                counted(a.options.length, "step"));
  out += fmt::format("  {:<16} {:<14} {:>10} {:>10} {:>10} {:>12}{}\n", "rule", "form", "memory", "traces", "work",
                     "time/step", a.options.measure ? "     measured" : "");
  for (size_t i = 0; i < a.costs.size(); ++i) {
    const Cost& c = a.costs[i];
    out += fmt::format("{} {:<16} {:<14}", a.recommended == i ? "→" : " ", c.candidate.rule, form_text(c.candidate));
    if (!c.left_out.empty()) {
      out += fmt::format(" {}\n", shortened(c.left_out));
      continue;
    }
    const auto bytes = [](int64_t n) { return right(bytes_text(static_cast<double>(n)), 11); };
    out += bytes(c.memory.total()) + bytes(c.memory.traces) + bytes(c.memory.work) +
           right(duration(c.seconds_per_step), 13);
    if (c.measured_memory) out += bytes(*c.measured_memory) + right(duration(c.measured_seconds.value_or(NAN)), 11);
    out += "\n";
  }
  if (a.recommended) {
    const Candidate& c = a.costs[*a.recommended].candidate;
    out += fmt::format("\nUse {} {}: {}.\n", c.rule, form_text(c), a.reason);
  } else {
    out += fmt::format("\nRecommended: none; {}.\n", a.reason);
  }
  return out + "Memory is the peak of a training call; times are estimates from counted work.\n";
}

std::string advice_json(const Advice& a) {
  ordered_json j = {
      {"model", a.model}, {"input", to_string(a.input)}, {"batch", a.options.batch}, {"length", a.options.length}};
  if (a.options.memory) j["memory_limit_bytes"] = *a.options.memory;
  j["rules"] = ordered_json::array();
  for (const Cost& c : a.costs) j["rules"].push_back(json_of(c));
  j["recommended"] = a.recommended ? ordered_json(*a.recommended) : nullptr;
  j["reason"]      = a.reason;
  return json_text(j, 2) + "\n";
}

}  // namespace braintrace
