// SPDX-License-Identifier: Apache-2.0
// Axes as words and as JSON.
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

const AxisWords& words_of(TraceFactorization) {
  static const AxisWords words{"trace_factorization", {"per_param", "io_factorized", "random_projection"}};
  return words;
}
const AxisWords& words_of(TemporalRecursion) {
  static const AxisWords words{"temporal_recursion", {"jacobian", "scalar_leak", "none"}};
  return words;
}
const AxisWords& words_of(RecurrenceScope) {
  static const AxisWords words{"recurrence_scope", {"diagonal", "coupled", "sparse_n"}};
  return words;
}
const AxisWords& words_of(SignalSource) {
  static const AxisWords words{"learning_signal", {"symmetric", "random_feedback", "modulatory", "bootstrapped"}};
  return words;
}
const AxisWords& words_of(TraceFilter) {
  static const AxisWords words{"trace_filter", {"none", "kappa"}};
  return words;
}
const AxisWords& words_of(UpdateSchedule) {
  static const AxisWords words{"update_schedule", {"per_step", "window", "sequence_end"}};
  return words;
}

template <RuleAxis A>
A axis_named(const std::string& value) {
  const auto& [name, values] = words_of(A{});
  const auto it              = std::find(values.begin(), values.end(), value);
  require(it != values.end(), "ETraceConfig: {} has no value '{}'{}\n  Values: {}.", name, value, hint(value, values),
          fmt::join(values, ", "));
  return static_cast<A>(it - values.begin());
}
template TraceFactorization axis_named(const std::string&);
template TemporalRecursion  axis_named(const std::string&);
template RecurrenceScope    axis_named(const std::string&);
template SignalSource       axis_named(const std::string&);
template TraceFilter        axis_named(const std::string&);
template UpdateSchedule     axis_named(const std::string&);

namespace {

void read(const json& j, double& out, const std::string& name) {
  require(j.is_number(), "ETraceConfig: {} must be a number, got {}.", name, shown_json(j));
  out = j.get<double>();
}
void read(const json& j, int64_t& out, const std::string& name) {
  require(j.is_number_integer(), "ETraceConfig: {} must be an integer, got {}.", name, shown_json(j));
  out = j.get<int64_t>();
}
template <RuleAxis A>
void read(const json& j, A& out, const std::string& name) {
  require(j.is_string(), "ETraceConfig: {} must be one of {}, got {}.", name, fmt::join(words_of(A{}).values, ", "),
          shown_json(j));
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
void read(const json& j, std::optional<OneOrPair<T>>& out, const std::string& name) {
  OneOrPair<T> value{T{}};
  read(j, value, name);
  out = value;
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

// Every field with its name. The schedule stands last: a valid point has only one, which is not written.
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
    require(std::find(known.begin(), known.end(), key) != known.end(),
            "ETraceConfig: there is no axis or coefficient '{}'{}\n  Known: {}.", key, hint(key, known),
            fmt::join(known, ", "));
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
