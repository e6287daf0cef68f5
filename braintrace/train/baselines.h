// SPDX-License-Identifier: Apache-2.0
// Simple baselines, evaluated on the same samples as a network:
//
//   most common class   of the training part                         mean         of the training part
//   last target       for forecasts: the target of `ahead` steps before, the newest known target
//   linear            ridge regression on the last inputs, fitted on the training part: with the inputs of the last K
//                     steps, standardized, and 1 as x,   W = (Σ x xᵀ + I)⁻¹ Σ x yᵀ;   y is one-hot for classes
#pragma once

#include <vector>

#include "braintrace/tasks/task.h"
#include "braintrace/train/config.h"
#include "braintrace/train/metrics.h"

namespace braintrace::train {

// Batches as in Evaluator::evaluate. Tasks without a training part have no baselines.
std::vector<Baseline> baselines(const Config& config, const tasks::Task& task, tasks::Part part, int64_t batches);

}  // namespace braintrace::train
