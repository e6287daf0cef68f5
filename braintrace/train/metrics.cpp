// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/metrics.h"

#include <algorithm>

namespace braintrace::train {

namespace {

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

}  // namespace

ClassMetrics class_metrics(const Array& confusion) {
  const int64_t  classes = confusion.shape()[0];
  const int64_t* C       = confusion.data<int64_t>();
  ClassMetrics   out;
  double         n = 0, most = 0, with_recall = 0, with_f1 = 0;
  for (int64_t i = 0; i < classes; ++i) {
    int64_t asked = 0, answered = 0;
    for (int64_t j = 0; j < classes; ++j) {
      asked += C[i * classes + j];
      answered += C[j * classes + i];
    }
    const auto right = static_cast<double>(C[i * classes + i]);
    out.asked.push_back(asked);
    out.recall.push_back(ratio(right, double(asked)));
    out.precision.push_back(ratio(right, double(answered)));
    out.f1.push_back(ratio(2 * right, double(asked + answered)));
    out.balanced_accuracy += out.recall.back();
    out.macro_f1 += out.f1.back();
    with_recall += asked > 0 ? 1 : 0;
    with_f1 += asked + answered > 0 ? 1 : 0;
    n += double(asked);
    most = std::max(most, double(asked));
  }
  out.balanced_accuracy = ratio(out.balanced_accuracy, with_recall);
  out.macro_f1          = ratio(out.macro_f1, with_f1);
  out.majority          = ratio(most, n);
  return out;
}

}  // namespace braintrace::train
