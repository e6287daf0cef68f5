// SPDX-License-Identifier: Apache-2.0
// Rule options to and from text and JSON.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "braintrace/algorithms/config_json.h"
#include "braintrace/base/json.h"
#include "braintrace/base/nearest.h"

namespace braintrace {

using nlohmann::json;

namespace {

const std::vector<std::string> methods = {"single-step", "multi-step"};

uint64_t random_key(const json& j, const char* name) {
  const int64_t key = json_integer(j, name);
  require(key >= 0, "{}: expected a number of at least 0, got {}.", name, key);
  return static_cast<uint64_t>(key);
}

double one_decay(const json& j) {
  if (!j.is_number_integer()) return json_number(j, "decay_or_rank");
  const auto rank = j.get<int64_t>();
  require(rank >= 1 && rank <= 1'000'000, "decay_or_rank: a rank must be at least 1, got {}.", rank);
  return TraceDecay::rank(static_cast<int>(rank)).x;
}

TraceDecay decay_or_rank(const json& j) {
  if (!j.is_array()) return TraceDecay::decay(one_decay(j));
  require(j.size() == 2, "decay_or_rank: expected one value or one for each of the x and f sides, got {}.",
          shown_json(j));
  return {one_decay(j[0]), one_decay(j[1])};
}

DType float_type(const std::string& name) {
  const auto type = dtype_named(name);
  require(type && is_float(*type), "trace_dtype: expected f64, f32, bf16 or f16, got '{}'.", name);
  return *type;
}

std::optional<RandomFeedback> feedback_of(const json& object) {
  const std::string kind = object.contains("feedback") ? json_word(object["feedback"], "feedback") : "symmetric";
  known_index(kind, {"symmetric", "random"}, "feedback: there is no kind", "Kinds");
  const bool has_key = object.contains("random_feedback_key");
  require((kind == "random") == has_key, "feedback '{}': random_feedback_key {}.", kind,
          has_key ? "belongs to 'random'" : "is missing");
  if (!has_key) return {};
  return RandomFeedback{.key = random_key(object["random_feedback_key"], "random_feedback_key")};
}

}  // namespace

VjpMethod vjp_method_named(const std::string& text) {
  return static_cast<VjpMethod>(known_index(text, methods, "vjp_method: there is no method", "Methods"));
}
const std::string& to_string(VjpMethod method) { return methods[static_cast<size_t>(method)]; }

RuleOptions rule_options_from_json(const json& object) {
  require(object.is_object(), "options: expected a JSON object, got {}.", shown_json(object));
  RuleOptions              out;
  std::vector<std::string> known{"feedback", "random_feedback_key"};
  const auto               read = [&](const char* name, auto& field, const auto& value_of) {
    known.emplace_back(name);
    if (const auto it = object.find(name); it != object.end()) field = value_of(*it, name);
  };
  read("vjp_method", out.vjp_method, [](const json& j, auto name) { return vjp_method_named(json_word(j, name)); });
  read("decay_or_rank", out.decay_or_rank, [](const json& j, auto) { return decay_or_rank(j); });
  read("kappa_filter_decay", out.kappa_filter_decay, json_number);
  read("n", out.n, json_integer);
  read("trace_dtype", out.trace_dtype, [](const json& j, auto name) { return float_type(json_word(j, name)); });
  read("projection_key", out.projection_key, random_key);
  read("projection_eps", out.projection_eps, json_number);
  for (const auto& [key, value] : object.items()) known_index(key, known, "options: there is no option");
  out.feedback = feedback_of(object);
  return out;
}

}  // namespace braintrace
