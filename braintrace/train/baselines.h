// SPDX-License-Identifier: Apache-2.0
// What simple answers would reach, judged on the same samples as a network:
//
//   most common class   of the training part                         mean         of the training part
//   last target       of forecasts: the target of `ahead` steps before, which is the newest that is known
//   linear            ridge regression on the last inputs, fitted on the training part: with the inputs of the last K
//                     steps, standardized, and 1 as x,   W = (Σ x xᵀ + I)⁻¹ Σ x yᵀ;   y is one-hot for classes
#pragma once

#include <vector>

#include "braintrace/tasks/task.h"
#include "braintrace/train/config.h"
#include "braintrace/train/metrics.h"

namespace braintrace::train {

// Batches as in Evaluator::evaluate. Tasks without a training part have none.
std::vector<Baseline> baselines(const Config& config, const tasks::Task& task, tasks::Part part, int64_t batches);

}  // namespace braintrace::train
