// SPDX-License-Identifier: Apache-2.0
// Options of rules as words and JSON.
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

double number(const json& j, const char* name) {
  require(j.is_number(), "{}: expected a number, got {}.", name, shown_json(j));
  return j.get<double>();
}
int64_t integer(const json& j, const char* name) {
  require(j.is_number_integer(), "{}: expected an integer, got {}.", name, shown_json(j));
  return j.get<int64_t>();
}
uint64_t key_of(const json& j, const char* name) {
  const int64_t key = integer(j, name);
  require(key >= 0, "{}: expected a number of at least 0, got {}.", name, key);
  return static_cast<uint64_t>(key);
}
std::string word(const json& j, const char* name) {
  require(j.is_string(), "{}: expected a word, got {}.", name, shown_json(j));
  return j.get<std::string>();
}

double one_decay(const json& j) {
  if (!j.is_number_integer()) return number(j, "decay_or_rank");
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
  const std::string kind = object.contains("feedback") ? word(object["feedback"], "feedback") : "symmetric";
  require(kind == "symmetric" || kind == "random", "feedback: there is no kind '{}'{}\n  Kinds: symmetric, random.",
          kind, hint(kind, {"symmetric", "random"}));
  const bool has_key = object.contains("random_feedback_key");
  require((kind == "random") == has_key, "feedback '{}': random_feedback_key {}.", kind,
          has_key ? "belongs to 'random'" : "is missing");
  if (!has_key) return {};
  return RandomFeedback{.key = key_of(object["random_feedback_key"], "random_feedback_key")};
}

}  // namespace

VjpMethod vjp_method_named(const std::string& text) {
  const auto it = std::find(methods.begin(), methods.end(), text);
  require(it != methods.end(), "vjp_method: there is no method '{}'{}\n  Methods: {}.", text, hint(text, methods),
          fmt::join(methods, ", "));
  return static_cast<VjpMethod>(it - methods.begin());
}
const std::string& to_string(VjpMethod method) { return methods[static_cast<size_t>(method)]; }

RuleOptions rule_options_from_json(const json& object) {
  static const std::vector<std::string> known = {"vjp_method",  "decay_or_rank",       "kappa_filter_decay",
                                                 "feedback",    "random_feedback_key", "n",
                                                 "trace_dtype", "projection_key",      "projection_eps"};
  require(object.is_object(), "options: expected a JSON object, got {}.", shown_json(object));
  for (const auto& [key, value] : object.items())
    require(std::find(known.begin(), known.end(), key) != known.end(),
            "options: there is no option '{}'{}\n  Known: {}.", key, hint(key, known), fmt::join(known, ", "));
  RuleOptions out;
  if (object.contains("vjp_method")) out.vjp_method = vjp_method_named(word(object["vjp_method"], "vjp_method"));
  if (object.contains("decay_or_rank")) out.decay_or_rank = decay_or_rank(object["decay_or_rank"]);
  if (object.contains("kappa_filter_decay"))
    out.kappa_filter_decay = number(object["kappa_filter_decay"], "kappa_filter_decay");
  out.feedback = feedback_of(object);
  if (object.contains("n")) out.n = integer(object["n"], "n");
  if (object.contains("trace_dtype")) out.trace_dtype = float_type(word(object["trace_dtype"], "trace_dtype"));
  if (object.contains("projection_key")) out.projection_key = key_of(object["projection_key"], "projection_key");
  if (object.contains("projection_eps")) out.projection_eps = number(object["projection_eps"], "projection_eps");
  return out;
}

}  // namespace braintrace
