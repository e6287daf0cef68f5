// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/counted.h"
#include "braintrace/fidelity/check_grad.h"

namespace braintrace {

namespace {

bool fails(const std::optional<Agreement>& a) { return a && a->must_hold && !a->holds; }
bool is_checked(const ParameterCheck& p) { return p.finite_differences || p.rtrl; }

nlohmann::ordered_json as_json(const Agreement& a) {
  return {{"relative_error", std::isfinite(a.relative_error) ? nlohmann::ordered_json(a.relative_error) : nullptr},
          {"digits", a.digits},
          {"must_hold", a.must_hold},
          {"holds", a.holds},
          {"words", a.words}};
}

}  // namespace

bool GradCheck::passed() const {
  return std::none_of(parameters.begin(), parameters.end(),
                      [](const ParameterCheck& p) { return fails(p.finite_differences) || fails(p.rtrl); });
}

std::string GradCheck::text() const {
  std::string out = fmt::format("{}{}{} of {}, loss {:.6g}; gradients in double precision\n", model,
                                model.empty() ? "" : ": ", counted(steps, "step"), input, loss);
  for (const std::string& why : left_out) out += fmt::format("left out: {}\n", why);
  const auto line = [&](const std::string& what, const std::string& words) {
    out += fmt::format("  {:<20} {}\n", what, words);
  };
  for (const ParameterCheck& p : parameters) {
    out += fmt::format("\n{}, norm {:.3g}\n", p.name, p.norm);
    const auto check = [&](const char* what, const std::optional<Agreement>& a, const std::string& why_not) {
      line(what, a ? (fails(a) ? "FAILS: " : "") + a->words : why_not);
    };
    check("finite differences", p.finite_differences, "mean nothing here: " + p.why_no_differences);
    check("exact RTRL", p.rtrl, "left out, see above");
    for (size_t r = 0; r < rules.size(); ++r) line(rules[r], p.rules[r].words);
  }
  const auto count   = [&](auto condition) { return std::count_if(parameters.begin(), parameters.end(), condition); };
  const auto bad     = count([](const ParameterCheck& p) { return fails(p.finite_differences) || fails(p.rtrl); });
  const auto unknown = count([](const ParameterCheck& p) { return !is_checked(p); });
  if (unknown) out += fmt::format("\n{} of {} parameters could not be checked at all\n", unknown, parameters.size());
  out += bad ? fmt::format("\nfailed: {} of {} parameters\n", bad, parameters.size())
             : fmt::format("\npassed: what was checked agrees to {} digits or more\n", digits);
  return out;
}

std::string GradCheck::json() const {
  using nlohmann::ordered_json;
  ordered_json j = {{"schema", "braintrace-check-grad/1"},
                    {"model", model},
                    {"input", input},
                    {"steps", steps},
                    {"loss", loss},
                    {"digits", digits},
                    {"passed", passed()},
                    {"left_out", left_out},
                    {"parameters", ordered_json::array()}};
  for (const ParameterCheck& p : parameters) {
    ordered_json one = {{"name", p.name},
                        {"norm", p.norm},
                        {"finite_differences", p.finite_differences ? as_json(*p.finite_differences) : nullptr},
                        {"why_no_differences", p.why_no_differences},
                        {"rtrl", p.rtrl ? as_json(*p.rtrl) : nullptr},
                        {"rules", ordered_json::object()}};
    for (size_t r = 0; r < rules.size(); ++r) one["rules"][rules[r]] = as_json(p.rules[r]);
    j["parameters"].push_back(one);
  }
  return j.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace braintrace
