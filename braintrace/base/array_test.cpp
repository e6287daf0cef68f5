// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/array.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace braintrace {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Array, StartsAtZeroAndIsAligned) {
  for (DType t : all_dtypes) {
    const Array a(Type{t, {2, 3}});
    for (int64_t i = 0; i < a.size(); ++i) EXPECT_EQ(at(a, i), 0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(a.raw()) % 64, 0u);
  }
}

TEST(Array, EmptyAndScalarShapes) {
  EXPECT_EQ(Array(Type{DType::F32, {3, 0}}).size(), 0);
  EXPECT_EQ(Array(Type{DType::F32, {}}).size(), 1);
  EXPECT_EQ(at(Array::scalar(DType::I32, 7), 0), 7);
}

TEST(Array, RefusesImpossibleShapes) {
  EXPECT_THROW(Array(Type{DType::F32, {-1}}), UserError);
  EXPECT_THROW(Array(Type{DType::F32, {int64_t{1} << 40, int64_t{1} << 40}}), UserError);
}

TEST(Array, RefusesWrongCountAndWrongType) {
  EXPECT_THROW(Array::of<float>({1, 2, 3}, {2}), UserError);
  EXPECT_THROW(Array::of<float>({1, 2}, {2}).data<double>(), UserError);
  EXPECT_THROW(Array::of<float>({1, 2}, {2}).reshaped({3}), UserError);
}

TEST(Array, ReshapeSharesStorage) {
  const Array a = Array::of<float>({1, 2, 3, 4}, {4});
  EXPECT_EQ(a.reshaped({2, 2}).raw(), a.raw());
}

TEST(Array, BorrowSharesMemoryAndHoldsTheOwner) {
  auto                              owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3});
  const float*                      p     = owner->data();
  std::weak_ptr<std::vector<float>> seen  = owner;
  {
    const Array a = Array::borrow({DType::F32, {3}}, p, std::move(owner));
    EXPECT_EQ(a.raw(), p);
    EXPECT_EQ(at(a, 2), 3);
    EXPECT_FALSE(seen.expired());
  }
  EXPECT_TRUE(seen.expired());
}

TEST(Array, KnowsWhetherOthersSeeItsMemory) {
  Array a = Array::of<float>({1, 2}, {2});
  EXPECT_TRUE(a.is_only_owner());
  {
    const Array other = a.reshaped({1, 2});
    EXPECT_FALSE(a.is_only_owner());
    EXPECT_FALSE(other.is_only_owner());
  }
  EXPECT_TRUE(a.is_only_owner());
  const Array copy = a.copy();
  EXPECT_TRUE(a.is_only_owner() && copy.is_only_owner() && identical(a, copy));
  EXPECT_NE(copy.raw(), a.raw());
  const Array moved = std::move(a);
  EXPECT_TRUE(moved.is_only_owner());
  float x = 0;
  EXPECT_FALSE(Array::borrow({DType::F32, {}}, &x, nullptr).is_only_owner());
  EXPECT_FALSE(Array::borrow({DType::F32, {}}, &x, std::make_shared<int>(0)).is_only_owner());
  EXPECT_TRUE(Array::adopt({DType::F32, {}}, std::make_shared<float>(1.0f)).is_only_owner());
}

TEST(Array, BorrowRefusesMisalignedMemory) {
  alignas(8) char bytes[16] = {};
  EXPECT_THROW(Array::borrow({DType::F32, {1}}, bytes + 2, nullptr), UserError);
  EXPECT_NO_THROW(Array::borrow({DType::F16, {1}}, bytes + 2, nullptr));
  EXPECT_NO_THROW(Array::borrow({DType::Bool, {1}}, bytes + 1, nullptr));
}

TEST(Array, FloatToIntegerTruncatesAndSaturates) {
  const Array  x   = Array::of<double>({2.9, -2.9, 1e20, -1e20, infinity, -infinity, std::nan("")}, {7});
  const Array  i32 = convert(x, DType::I32), u32 = convert(x, DType::U32), i64 = convert(x, DType::I64);
  const double expected32[] = {2, -2, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, 0};
  const double expected_u[] = {2, 0, UINT32_MAX, 0, UINT32_MAX, 0, 0};
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(at(i32, i), expected32[i]) << i;
    EXPECT_EQ(at(u32, i), expected_u[i]) << i;
  }
  EXPECT_EQ(i64.data<int64_t>()[2], INT64_MAX);
  EXPECT_EQ(i64.data<int64_t>()[3], INT64_MIN);
  EXPECT_EQ(i64.data<int64_t>()[6], 0);
}

TEST(Array, IntegerToIntegerWraps) {
  const Array x = Array::of<int64_t>({(int64_t{1} << 32) + 5, -1, int64_t{1} << 31}, {3});
  EXPECT_EQ(convert(x, DType::I32).data<int32_t>()[0], 5);
  EXPECT_EQ(convert(x, DType::U32).data<uint32_t>()[1], UINT32_MAX);
  EXPECT_EQ(convert(x, DType::I32).data<int32_t>()[2], INT32_MIN);
}

TEST(Array, LargeIntegersKeepAllBits) {
  const int64_t big = (int64_t{1} << 53) + 1;  // not a double
  const Array   x   = Array::of<int64_t>({big}, {1});
  EXPECT_EQ(Integers(x)[0], big);
  EXPECT_EQ(from_integers(x.type(), {Integers(x).data(), 1}).data<int64_t>()[0], big);
}

TEST(Array, BoolIsAnythingButZero) {
  const Array x          = Array::of<double>({0, -0.0, 0.1, -3, std::nan("")}, {5});
  const Array b          = convert(x, DType::Bool);
  const bool  expected[] = {false, false, true, true, true};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(b.data<bool>()[i], expected[i]) << i;
}

TEST(Array, IdenticalComparesBits) {
  const Array a = Array::of<float>({0.0f, NAN}, {2}), b = Array::of<float>({0.0f, NAN}, {2});
  EXPECT_TRUE(identical(a, b));
  EXPECT_FALSE(identical(a, Array::of<float>({-0.0f, NAN}, {2})));
  EXPECT_FALSE(identical(a, b.reshaped({1, 2})));
}

TEST(Array, PrintsTypeAndElements) {
  EXPECT_EQ(to_string(Array::of<int32_t>({1, 2, 3}, {3})), "i32[3] [1, 2, 3]");
  EXPECT_EQ(to_string(Array::of<int32_t>({1, 2, 3}, {3}), 2), "i32[3] [1, 2, …]");
}

}  // namespace
}  // namespace braintrace
