// SPDX-License-Identifier: Apache-2.0
// An evaluation as JSON: the output of `braintrace eval --json`, also returned in Python.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "braintrace/train/trainer.h"

namespace braintrace::train {

// Whether the loss is -log p of the right class, so that its exponential is a perplexity.
bool measures_surprise(const Config& config);

// For the trainer's last validation `v`: loss; for classes accuracy, confusion matrix and metrics derived from it; for
// values R², RMSE and MAE; and, after Trainer::compare, baselines.
nlohmann::ordered_json evaluation_json(const Trainer& trainer, const ValidationRecord& v);

}  // namespace braintrace::train
