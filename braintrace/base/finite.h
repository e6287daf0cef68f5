// SPDX-License-Identifier: Apache-2.0
// Whether an array holds numbers that one can go on computing with.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "braintrace/base/array.h"

namespace braintrace {

// Every element lies in [-most, most]; integers and truth values always do.
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
