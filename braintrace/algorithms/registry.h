// SPDX-License-Identifier: Apache-2.0
// The algorithms by name: their points in the axis space, what they may be given, one line about each.
#pragma once

#include "braintrace/algorithms/make_rule.h"

namespace braintrace {

struct Algorithm {
  std::string              name;     // D_RTRL, …
  std::vector<std::string> aliases;  // other spellings
  std::string              doc;
  std::vector<std::string> options = {};  // fields of RuleOptions it takes besides vjp_method
  // The point for these options; null for an algorithm outside the axis space, which then has `rule`.
  ETraceConfig (*config)(const RuleOptions& options) = nullptr;
  std::shared_ptr<const LearningRule> (*rule)()      = nullptr;

  // Throws UserError for an option it does not take, or one it needs.
  std::unique_ptr<OnlineLearner> learner(Module& model, const RuleOptions& options) const;
};

const std::vector<Algorithm>& algorithms();
// In any spelling and case; throws UserError with the nearest name.
const Algorithm& algorithm_named(const std::string& name);
// One line per algorithm: names, options, what it is.
std::string list_of_algorithms();

}  // namespace braintrace
