// SPDX-License-Identifier: Apache-2.0
// Optimizers and learning-rate schedules from JSON descriptions.
#pragma once

#include <memory>

#include "braintrace/nn/optim.h"
#include "braintrace/train/section.h"

namespace braintrace::train {

struct OptimizerAndPace {
  std::unique_ptr<optim::Optimizer> optimizer;
  int64_t                           updates_per_epoch = 1;  // of the schedule
};

ordered_json     filled_optimizer(const ordered_json& object, const std::string& path);
OptimizerAndPace make_optimizer(const ordered_json& filled, const std::string& path);
std::string      optimizer_reference();  // markdown

}  // namespace braintrace::train
