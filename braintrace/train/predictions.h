// SPDX-License-Identifier: Apache-2.0
// The predictions of a network for the samples of a part, one row per step with a target.
#pragma once

#include <string>
#include <vector>

#include "braintrace/base/array.h"

namespace braintrace::train {

struct Predictions {
  Array samples, steps;                      // i64[R]: sample in the order of the part, step inside it
  Array outputs;                             // f32[R, n]
  Array targets = Array({DType::F32, {0}});  // i64[R] for classes, f32[R, n] for values; empty if the data have none
  Array classes = Array({DType::I64, {0}});  // i64[R], the largest output; none for values
  Array probabilities = Array({DType::F32, {0, 0}});  // f32[R, n], softmax of the outputs; likewise
  std::vector<std::string> class_names;               // may be empty
};

// Writes .npz, with arrays named as above, or .csv, with one line per row.
void write_predictions(const std::string& path, const Predictions& p);

}  // namespace braintrace::train
