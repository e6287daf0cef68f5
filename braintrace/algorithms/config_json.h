// SPDX-License-Identifier: Apache-2.0
// ETraceConfig and RuleOptions as JSON objects with the same field names. A null or missing field has its default
// value.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "braintrace/algorithms/make_rule.h"

namespace braintrace {

RuleAxes               axes_from_json(const nlohmann::json& object);
ETraceConfig           config_from_json(const nlohmann::json& object);
nlohmann::ordered_json to_json(const ETraceConfig& config);

// decay_or_rank: an integer is a rank, any other number a decay, a list of two numbers the decays of x and f. feedback:
// "symmetric", or "random" with random_feedback_key.
RuleOptions rule_options_from_json(const nlohmann::json& object);

}  // namespace braintrace
