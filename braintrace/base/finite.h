// SPDX-License-Identifier: Apache-2.0
// Whether an array contains only usable numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "braintrace/base/array.h"

namespace braintrace {

// Whether every element is in [-most, most]; always true for integers and bools.
inline bool all_within(const Array& a, double most) {
  if (!is_float(a.dtype())) return true;
  const auto inside = [&](const auto* p) {
    return std::all_of(p, p + a.size(), [&](auto v) { return std::abs(static_cast<double>(v)) <= most; });
  };
  if (a.dtype() == DType::F32) return inside(a.data<float>());
  return inside(Doubles(a).data());
}

inline bool all_finite(const Array& a) { return all_within(a, std::numeric_limits<double>::max()); }

}  // namespace braintrace
