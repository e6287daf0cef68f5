// SPDX-License-Identifier: Apache-2.0
// What a confusion matrix says besides the accuracy. C_ij counts answers j where i is right; n = Σ C_ij.
//
//   recall_i = C_ii / Σ_j C_ij      precision_j = C_jj / Σ_i C_ij      F1_i = 2 C_ii / (Σ_j C_ij + Σ_j C_ji)
//   balanced accuracy               mean of recall_i over the classes that were asked for
//   macro F1                        mean of F1_i over the classes that were asked for or answered
//   majority                        max_i Σ_j C_ij / n, the accuracy of who always answers the most common class
#pragma once

#include <vector>

#include "braintrace/base/array.h"

namespace braintrace::train {

struct ClassMetrics {
  double               balanced_accuracy = 0, macro_f1 = 0, majority = 0;
  std::vector<double>  recall, precision, f1;  // of every class; 0 where there is nothing to divide by
  std::vector<int64_t> asked;                  // how often each class was right
};
ClassMetrics class_metrics(const Array& confusion);  // i64[classes, classes]

}  // namespace braintrace::train
