// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "braintrace/ir/tensor.h"

namespace braintrace {

inline Tensor f64(const std::vector<double>& values, Shape shape) {
  return Tensor(Array::of<double>(values, std::move(shape)));
}
inline Tensor f64(const std::vector<double>& values) { return f64(values, {static_cast<int64_t>(values.size())}); }

// The largest difference between elements; infinite when the sizes differ.
inline double distance(const Tensor& got, const std::vector<double>& want) {
  const Array a = got.array();
  if (a.size() != static_cast<int64_t>(want.size())) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (size_t i = 0; i < want.size(); ++i) worst = std::max(worst, std::abs(at(a, static_cast<int64_t>(i)) - want[i]));
  return worst;
}

}  // namespace braintrace
