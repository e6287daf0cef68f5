// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/compare.h"

#include "tests/support/values.h"

namespace braintrace {
namespace {

using namespace testing_support;

TEST(Compare, OrdersNumbersAndNeverNan) {
  const Tensor a = tensor({1, 2, 3, nan, inf, 0}), b = tensor({2, 2, 2, nan, inf, -0.0});
  expect_values(equal(a, b), {0, 1, 0, 0, 1, 1});
  expect_values(not_equal(a, b), {1, 0, 1, 1, 0, 0});
  expect_values(less(a, b), {1, 0, 0, 0, 0, 0});
  expect_values(less_equal(a, b), {1, 1, 0, 0, 1, 1});
  expect_values(greater(a, b), {0, 0, 1, 0, 0, 0});
  expect_values(greater_equal(a, b), {0, 1, 1, 0, 1, 1});
  EXPECT_EQ(less(a, b).dtype(), DType::Bool);
}

TEST(Compare, IntegersBeyondDoublePrecision) {
  const int64_t big = (int64_t{1} << 53) + 1;
  const Tensor  a(Array::of<int64_t>({big}, {1})), b(Array::of<int64_t>({big - 1}, {1}));
  expect_values(greater(a, b), {1});
  expect_values(equal(a, b), {0});
}

TEST(Compare, SpecialValues) {
  const Tensor x = tensor({1, inf, -inf, nan});
  expect_values(is_finite(x), {1, 0, 0, 0});
  expect_values(is_inf(x), {0, 1, 1, 0});
  expect_values(is_nan(x), {0, 0, 0, 1});
  expect_values(is_finite(ints({1})), {1});
  expect_values(is_nan(ints({1})), {0});
  expect_values(is_inf(tensor({65536}, DType::F16)), {1});
}

TEST(Logic, TruthTables) {
  const Tensor a = bools({0, 0, 1, 1}), b = bools({0, 1, 0, 1});
  expect_values(logical_and(a, b), {0, 0, 0, 1});
  expect_values(logical_or(a, b), {0, 1, 1, 1});
  expect_values(logical_xor(a, b), {0, 1, 1, 0});
  expect_values(logical_not(a), {1, 1, 0, 0});
  expect_values(logical_and(a, true), {0, 0, 1, 1});
  EXPECT_EQ(logical_or(a, false).dtype(), DType::Bool);
}

TEST(Logic, Bits) {
  const Tensor a = ints({12, -1}), b = ints({10, 7});
  expect_values(bitwise_and(a, b), {8, 7});
  expect_values(bitwise_or(a, b), {14, -1});
  expect_values(bitwise_xor(a, b), {6, -8});
  expect_values(bitwise_not(a), {-13, 0});
  expect_values(bitwise_not(tensor({0, 5}, DType::U32)), {UINT32_MAX, UINT32_MAX - 5.0});
}

}  // namespace
}  // namespace braintrace
