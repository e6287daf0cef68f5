// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/dtype.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace braintrace {

std::string_view name_of(DType t) {
  constexpr std::string_view names[] = {"f32", "f64", "f16", "bf16", "i32", "i64", "u32", "bool"};
  return names[static_cast<size_t>(t)];
}

std::optional<DType> dtype_named(std::string_view name) {
  for (DType t : all_dtypes)
    if (name_of(t) == name) return t;
  return std::nullopt;
}

size_t size_of(DType t) {
  return visit_dtype(t, [](auto zero) { return sizeof(zero); });
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  if (!is_float(a)) {
    auto rank = [](DType t) { return t == DType::Bool ? 0 : t == DType::U32 ? 1 : t == DType::I32 ? 2 : 3; };
    return rank(a) > rank(b) ? a : b;
  }
  if (a == DType::F64 || b == DType::F64) return DType::F64;
  return DType::F32;
}

namespace {

// x rounded to a binary format with `mantissa` explicit bits and least normal exponent `emin`; values
// beyond the largest finite one become infinite. The result is exact in double.
double round_to(double x, int mantissa, int emin, double largest) {
  if (!std::isfinite(x) || x == 0) return x;
  int e;
  std::frexp(x, &e);  // |x| in [2^(e-1), 2^e)
  const int    quantum = std::max(e - 1, emin) - mantissa;
  const double r       = std::ldexp(std::nearbyint(std::ldexp(x, -quantum)), quantum);
  if (std::abs(r) > largest) return std::copysign(std::numeric_limits<double>::infinity(), x);
  return r;
}

}  // namespace

Half::Half(double value) {
  const double   r    = round_to(value, 10, -14, 65504.0);
  const uint16_t sign = std::signbit(r) ? 0x8000 : 0;
  if (std::isnan(r)) {
    bits = sign | 0x7e00;
  } else if (std::isinf(r)) {
    bits = sign | 0x7c00;
  } else if (std::abs(r) < 0x1p-14) {  // subnormal or zero: count of 2^-24
    bits = sign | static_cast<uint16_t>(std::ldexp(std::abs(r), 24));
  } else {
    int          e;
    const double m = std::frexp(std::abs(r), &e);  // m in [0.5, 1)
    bits           = sign | static_cast<uint16_t>((e + 14) << 10) | (static_cast<uint16_t>(std::ldexp(m, 11)) & 0x3ff);
  }
}

Half::operator double() const {
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  const int    e    = (bits >> 10) & 0x1f;
  const int    m    = bits & 0x3ff;
  if (e == 0x1f)
    return m ? std::copysign(std::numeric_limits<double>::quiet_NaN(), sign)
             : sign * std::numeric_limits<double>::infinity();
  return sign * (e ? std::ldexp(m + 1024, e - 25) : std::ldexp(m, -24));
}

BFloat16::BFloat16(double value) {
  const double r = round_to(value, 7, -126, 0x1.fep127);
  bits           = static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(r)) >> 16);
  if (std::isnan(r)) bits |= 0x40;  // keep the NaN quiet after truncation
}

BFloat16::operator double() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

}  // namespace braintrace
