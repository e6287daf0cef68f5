// SPDX-License-Identifier: Apache-2.0
// An evaluation as JSON: what `braintrace eval --json` prints, and Python hands out.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "braintrace/train/trainer.h"

namespace braintrace::train {

// The loss is -log p of what is right: its exponential is a perplexity.
bool measures_surprise(const Config& config);

// Of the trainer's last validation `v`: loss; of classes accuracy, confusion matrix and what it says; of values R²,
// RMSE and MAE; what simple answers reach, after Trainer::compare.
nlohmann::ordered_json evaluation_json(const Trainer& trainer, const ValidationRecord& v);

}  // namespace braintrace::train
