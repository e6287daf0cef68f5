// SPDX-License-Identifier: Apache-2.0
// The answers of a network to the samples of a part, one row for each step that is asked for.
#pragma once

#include <string>
#include <vector>

#include "braintrace/base/array.h"

namespace braintrace::train {

struct Predictions {
  Array samples, steps;                      // i64[R]: sample in the order of the part, step inside it
  Array outputs;                             // f32[R, n]
  Array targets = Array({DType::F32, {0}});  // i64[R] for classes, f32[R, n] for values; none where the data have none
  Array classes = Array({DType::I64, {0}});  // i64[R], the largest output; none for values
  Array probabilities = Array({DType::F32, {0, 0}});  // f32[R, n], softmax of the outputs; likewise
  std::vector<std::string> class_names;               // may be empty
};

// As .npz, arrays by the names above; or as .csv, a line for each row.
void write_predictions(const std::string& path, const Predictions& p);

}  // namespace braintrace::train
