// SPDX-License-Identifier: Apache-2.0
// Axes to and from text and JSON.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "braintrace/algorithms/config_json.h"
#include "braintrace/base/error.h"
#include "braintrace/base/json.h"
#include "braintrace/base/nearest.h"

namespace braintrace {

using nlohmann::json;
using nlohmann::ordered_json;

const AxisWords& axis_words(size_t axis) {
  static const AxisWords all[] = {
      {"trace_factorization", {"per_param", "io_factorized", "random_projection"}},
      {"temporal_recursion", {"jacobian", "scalar_leak", "none"}},
      {"recurrence_scope", {"diagonal", "coupled", "sparse_n"}},
      {"learning_signal", {"symmetric", "random_feedback", "modulatory", "bootstrapped"}},
      {"trace_filter", {"none", "kappa"}},
      {"update_schedule", {"per_step", "window", "sequence_end"}},
  };
  return all[axis];
}
size_t axis_value(size_t axis, const std::string& word) {
  const auto& [name, values] = axis_words(axis);
  return known_index(word, values, "ETraceConfig: " + name + " has no value", "Values");
}

namespace {

void read(const json& j, double& out, const std::string& name) { out = json_number(j, "ETraceConfig: " + name); }
void read(const json& j, int64_t& out, const std::string& name) { out = json_integer(j, "ETraceConfig: " + name); }
template <RuleAxis A>
void read(const json& j, A& out, const std::string& name) {
  require(j.is_string(), "ETraceConfig: {} must be one of {}, got {}.", name,
          fmt::join(axis_words(number_of(out)).values, ", "), shown_json(j));
  out = axis_named<A>(j.get<std::string>());
}
template <class T>
void read(const json& j, OneOrPair<T>& out, const std::string& name) {
  T x{}, f{};
  require(!j.is_array() || j.size() == 2, "ETraceConfig: {} must be one value or a pair for the x and f sides, got {}.",
          name, shown_json(j));
  read(j.is_array() ? j[0] : j, x, name);
  read(j.is_array() ? j[1] : j, f, name);
  out = j.is_array() ? OneOrPair<T>(x, f) : OneOrPair<T>(x);
}
template <class T>
void read(const json& j, std::optional<T>& out, const std::string& name) {
  read(j, out.emplace(), name);
}

template <RuleAxis A>
ordered_json shown(A value) {
  return to_string(value);
}
ordered_json shown(double value) { return value; }
ordered_json shown(int64_t value) { return value; }
template <class T>
ordered_json shown(const OneOrPair<T>& value) {
  return value.is_pair ? ordered_json::array({shown(value.x), shown(value.f)}) : shown(value.x);
}
template <class T>
ordered_json shown(const std::optional<T>& value) {
  return value ? shown(*value) : ordered_json();
}

// Every field with its name. update_schedule is last: valid points have only one value, which is not printed.
template <class A, class F>
void for_each_field(A& axes, F f) {
  f("trace_factorization", axes.trace_factorization);
  f("temporal_recursion", axes.temporal_recursion);
  f("recurrence_scope", axes.recurrence_scope);
  f("learning_signal", axes.learning_signal);
  f("trace_filter", axes.trace_filter);
  f("decay", axes.decay);
  f("kappa", axes.kappa);
  f("sparse_n", axes.sparse_n);
  f("update_schedule", axes.update_schedule);
  f("window_size", axes.window_size);
}

}  // namespace

RuleAxes axes_from_json(const json& object) {
  require(object.is_object(), "ETraceConfig: expected a JSON object, got {}.", shown_json(object));
  RuleAxes                 out;
  std::vector<std::string> known;
  for_each_field(out, [&](const char* name, auto& field) {
    known.emplace_back(name);
    if (const auto it = object.find(name); it != object.end() && !it->is_null()) read(*it, field, name);
  });
  for (const auto& [key, value] : object.items())
    known_index(key, known, "ETraceConfig: there is no axis or coefficient");
  return out;
}

ETraceConfig config_from_json(const json& object) { return ETraceConfig(axes_from_json(object)); }

ordered_json to_json(const ETraceConfig& config) {
  ordered_json out;
  for_each_field(config.axes(), [&](const char* name, const auto& field) { out[name] = shown(field); });
  out.erase("update_schedule");
  out.erase("window_size");
  return out;
}

std::string ETraceConfig::describe() const {
  const ordered_json       mine = to_json(*this), otherwise = to_json(ETraceConfig());
  std::vector<std::string> parts;
  for (const auto& [name, value] : mine.items()) {
    if (value == otherwise[name]) continue;
    std::string text = value.is_array() ? fmt::format("({},{})", value[0].dump(), value[1].dump()) : value.dump();
    text.erase(std::remove(text.begin(), text.end(), '"'), text.end());
    parts.push_back(name + "=" + text);
  }
  return parts.empty() ? "default" : fmt::format("{}", fmt::join(parts, " "));
}

}  // namespace braintrace
