// SPDX-License-Identifier: Apache-2.0
// Points and options as JSON objects with the names of their fields; null or missing means the default.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "braintrace/algorithms/make_rule.h"

namespace braintrace {

RuleAxes               axes_from_json(const nlohmann::json& object);
ETraceConfig           config_from_json(const nlohmann::json& object);
nlohmann::ordered_json to_json(const ETraceConfig& config);

// decay_or_rank: an integer is a rank, another number a decay, a list of two the two sides. feedback: "symmetric", or
// "random" with random_feedback_key.
RuleOptions rule_options_from_json(const nlohmann::json& object);

}  // namespace braintrace
