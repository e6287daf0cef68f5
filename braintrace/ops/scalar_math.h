// SPDX-License-Identifier: Apache-2.0
// Scalar functions that elementwise ops, reductions and scans share: integers wrap, NaN propagates.
#pragma once

#include <cmath>
#include <cstdint>

namespace braintrace {

inline int64_t wrap_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t wrap_sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
inline int64_t wrap_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// Truncated; 0 where b = 0.
inline int64_t whole_div(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? wrap_sub(0, a) : a / b; }
// Sign of a; 0 where b = 0.
inline int64_t whole_rem(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

// For negative exponents, the truncated reciprocal.
inline int64_t whole_pow(int64_t base, int64_t exponent) {
  if (exponent < 0) return whole_div(1, base) == 0 ? 0 : exponent % 2 ? base : 1;
  int64_t y = 1;
  for (; exponent; exponent >>= 1, base = wrap_mul(base, base))
    if (exponent & 1) y = wrap_mul(y, base);
  return y;
}

inline double nan_max(double a, double b) { return std::isnan(a) || a > b ? a : b; }
inline double nan_min(double a, double b) { return std::isnan(a) || a < b ? a : b; }

}  // namespace braintrace
