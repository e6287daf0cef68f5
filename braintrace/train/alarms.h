// SPDX-License-Identifier: Apache-2.0
// What a user should hear of while a network trains.
#pragma once

#include "braintrace/train/evaluator.h"

namespace braintrace::train {

// Neurons that never or always fire, and bounded states that stay at their bound, in a share that matters.
std::vector<Alarm> activity_alarms(int64_t step, const std::vector<UnitStatistics>& units);
// Alarms of one kind at more than three layers as one, which names the first of them: a deep network says a thing once.
std::vector<Alarm>           joined_alarms(const std::vector<Alarm>& all);
inline constexpr const char* finite_advice = "Lower the learning rate, or clip the gradient with optimizer.clip_norm.";
// A loss or gradient that is not a number anymore; empty while all is well.
std::vector<Alarm> finite_alarms(int64_t step, double loss, const StateMap& weights,
                                 const std::vector<double>& gradient_norms);

}  // namespace braintrace::train
