// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/dtype.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace braintrace {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double half(double x) { return static_cast<double>(Half(x)); }
double bfloat(double x) { return static_cast<double>(BFloat16(x)); }

TEST(DType, NamesRoundTrip) {
  for (DType t : all_dtypes) EXPECT_EQ(dtype_named(name_of(t)), t);
  EXPECT_FALSE(dtype_named("f8"));
}

TEST(DType, Sizes) {
  EXPECT_EQ(size_of(DType::F64), 8u);
  EXPECT_EQ(size_of(DType::BF16), 2u);
  EXPECT_EQ(size_of(DType::Bool), 1u);
}

TEST(DType, PromotionIsCommutativeAndIdempotent) {
  for (DType a : all_dtypes) {
    EXPECT_EQ(promote(a, a), a);
    for (DType b : all_dtypes) EXPECT_EQ(promote(a, b), promote(b, a));
  }
}

TEST(DType, Promotion) {
  EXPECT_EQ(promote(DType::Bool, DType::U32), DType::U32);
  EXPECT_EQ(promote(DType::U32, DType::I32), DType::I32);
  EXPECT_EQ(promote(DType::I64, DType::F16), DType::F16);
  EXPECT_EQ(promote(DType::F16, DType::BF16), DType::F32);
  EXPECT_EQ(promote(DType::F32, DType::F64), DType::F64);
}

// Every bit pattern survives the way to double and back.
template <class T>
void expect_bits_round_trip() {
  for (uint32_t b = 0; b < 0x10000; ++b) {
    T x;
    x.bits         = static_cast<uint16_t>(b);
    const double v = static_cast<double>(x);
    const T      back(v);
    if (std::isnan(v))
      EXPECT_TRUE(std::isnan(static_cast<double>(back))) << b;
    else
      EXPECT_EQ(back.bits, x.bits) << b;
  }
}
TEST(Half, BitsRoundTrip) { expect_bits_round_trip<Half>(); }
TEST(BFloat16, BitsRoundTrip) { expect_bits_round_trip<BFloat16>(); }

// The value half way between neighbors goes to the even one, a hair beside it to the nearer one.
template <class T>
void expect_ties_to_even(uint16_t first, uint16_t last) {
  for (uint32_t b = first; b < last; ++b) {
    T x, y;
    x.bits          = static_cast<uint16_t>(b);
    y.bits          = static_cast<uint16_t>(b + 1);
    const double lo = static_cast<double>(x), hi = static_cast<double>(y), middle = (lo + hi) / 2;
    const auto   even = static_cast<uint16_t>(b % 2 ? b + 1 : b);
    EXPECT_EQ(T(middle).bits, even) << b;
    EXPECT_EQ(T(std::nextafter(middle, lo)).bits, x.bits) << b;
    EXPECT_EQ(T(std::nextafter(middle, hi)).bits, y.bits) << b;
  }
}
TEST(Half, TiesToEvenAlsoAmongSubnormals) { expect_ties_to_even<Half>(0, 0x7bff); }
TEST(BFloat16, TiesToEvenAlsoAmongSubnormals) { expect_ties_to_even<BFloat16>(0, 0x7f7f); }

TEST(Half, Range) {
  EXPECT_EQ(half(65504), 65504);
  EXPECT_EQ(half(65519.99), 65504);
  EXPECT_EQ(half(65520), infinity);
  EXPECT_EQ(half(-1e300), -infinity);
  EXPECT_EQ(half(infinity), infinity);
  EXPECT_EQ(half(0x1p-24), 0x1p-24);
  EXPECT_EQ(half(0x1p-25), 0);
  EXPECT_EQ(half(0x1.000002p-25), 0x1p-24);
  EXPECT_TRUE(std::signbit(half(-0.0)));
  EXPECT_TRUE(std::signbit(half(-1e-30)));
}

TEST(BFloat16, Range) {
  EXPECT_EQ(bfloat(0x1.fep127), 0x1.fep127);
  EXPECT_EQ(bfloat(0x1.fefp127), 0x1.fep127);
  EXPECT_EQ(bfloat(0x1.ffp127), infinity);
  EXPECT_EQ(bfloat(-infinity), -infinity);
  EXPECT_EQ(bfloat(0x1p-133), 0x1p-133);
  EXPECT_EQ(bfloat(0x1p-134), 0);
  EXPECT_EQ(bfloat(3.14159265), 3.140625);
}

TEST(Half, NanStaysNan) {
  for (double x : {std::nan(""), -std::nan("")}) {
    EXPECT_TRUE(std::isnan(half(x)));
    EXPECT_TRUE(std::isnan(bfloat(x)));
  }
}

// Rounding through f32 first would round twice: 1 + 2^-11 + 2^-26 is above the tie only in double.
TEST(Half, RoundsOnceFromDouble) { EXPECT_EQ(half(1 + 0x1p-11 + 0x1p-26), 1 + 0x1p-10); }

}  // namespace
}  // namespace braintrace
