// SPDX-License-Identifier: Apache-2.0
// Problems to report to the user during training.
#pragma once

#include "braintrace/train/evaluator.h"

namespace braintrace::train {

// Neurons that never or always fire, and bounded states that stay at their bound, if there are many.
std::vector<Alarm> activity_alarms(int64_t step, const std::vector<UnitStatistics>& units);
// Merges alarms of one kind in more than three layers into one, which names the first layer.
std::vector<Alarm>           joined_alarms(const std::vector<Alarm>& all);
inline constexpr const char* finite_advice = "Lower the learning rate, or clip the gradient with optimizer.clip_norm.";
// A message about a loss or gradient that is not finite; empty if all are finite.
std::vector<Alarm> finite_alarms(int64_t step, double loss, const StateMap& weights,
                                 const std::vector<double>& gradient_norms);

}  // namespace braintrace::train
