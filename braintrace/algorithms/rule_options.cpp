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

// The value of an option, by its type.
void read_option(const json& j, const char* name, std::optional<double>& to) { to = json_number(j, name); }
void read_option(const json& j, const char* name, std::optional<int64_t>& to) { to = json_integer(j, name); }
void read_option(const json& j, const char* name, std::optional<uint64_t>& to) { to = random_key(j, name); }
void read_option(const json& j, const char* name, std::optional<VjpMethod>& to) {
  to = vjp_method_named(json_word(j, name));
}
void read_option(const json& j, const char* name, std::optional<DType>& to) {
  const std::string word = json_word(j, name);
  to                     = dtype_named(word);
  require(to && is_float(*to), "{}: expected f64, f32, bf16 or f16, got '{}'.", name, word);
}
void read_option(const json& j, const char* name, std::optional<TraceDecay>& to) {
  require(!j.is_array() || j.size() == 2, "{}: expected one value or one for each of the x and f sides, got {}.", name,
          shown_json(j));
  to = j.is_array() ? TraceDecay{one_decay(j[0]), one_decay(j[1])} : TraceDecay::decay(one_decay(j));
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
  const auto               read = [&](const char* name, auto& field) {
    if constexpr (requires { read_option(object, name, field); }) {  // not feedback (two fields) or modulator
      known.emplace_back(name);
      if (const auto it = object.find(name); it != object.end()) read_option(*it, name, field);
    }
  };
  read("vjp_method", out.vjp_method);
  for_each_option(out, read);
  for (const auto& [key, value] : object.items()) known_index(key, known, "options: there is no option");
  out.feedback = feedback_of(object);
  return out;
}

}  // namespace braintrace
