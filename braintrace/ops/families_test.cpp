// SPDX-License-Identifier: Apache-2.0
// Promotion, broadcasting and the errors that all elementwise functions share.
#include "braintrace/ops/families.h"

#include "braintrace/ops/activation.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"
#include "tests/support/values.h"

namespace braintrace {
namespace {

using namespace testing_support;

TEST(Promotion, TensorsMeetInTheWiderType) {
  EXPECT_EQ((ints({1}) + tensor({1}, DType::F32)).dtype(), DType::F32);
  EXPECT_EQ((tensor({1}, DType::F16) * tensor({1}, DType::BF16)).dtype(), DType::F32);
  EXPECT_EQ((bools({1}) + ints({1})).dtype(), DType::I32);
  EXPECT_EQ(select(bools({1}), ints({1}), tensor({1}, DType::F16)).dtype(), DType::F16);
}

TEST(Promotion, NumbersYieldToTensors) {
  EXPECT_EQ((ints({1}) + 1).dtype(), DType::I32);
  EXPECT_EQ((ints({3}) * 0.5).dtype(), DType::F32);
  expect_values(ints({3}) * 0.5, {1.5});
  EXPECT_EQ((tensor({1}, DType::F16) + 0.5).dtype(), DType::F16);
  EXPECT_EQ((tensor({1}, DType::F64) + 0.1).item(), 1.1);
  EXPECT_EQ(maximum(ints({1}), inf).dtype(), DType::F32);
  EXPECT_EQ((Tensor(1.0) + Tensor(2.0)).dtype(), DType::F32);
}

TEST(Promotion, BoolsCountWithWholeNumbers) {
  const Tensor y = bools({1, 0}) + 1;
  EXPECT_EQ(y.dtype(), DType::I32);
  expect_values(y, {2, 1});
}

TEST(Broadcast, SizeOneAxesStretch) {
  const Tensor y = tensor({1, 2, 3}, {3, 1}) + tensor({10, 20}, {2});
  EXPECT_EQ(y.shape(), (Shape{3, 2}));
  expect_values(y, {11, 21, 12, 22, 13, 23});
}

TEST(Broadcast, ErrorNamesOpAndShapes) {
  expect_user_error([] { tensor({1, 2, 3}) * tensor({1, 2}); }, {"mul", "[3]", "[2]"});
  expect_user_error([] { select(bools({1, 0}), tensor({1, 2, 3}), 0); }, {"select", "[3]", "[2]"});
}

TEST(Errors, WrongDTypeNamesOpAndType) {
  expect_user_error([] { exp(ints({1})); }, {"exp", "floating-point", "i32", "convert"});
  expect_user_error([] { gelu(ints({1})); }, {"gelu", "floating-point", "i32"});
  expect_user_error([] { bitwise_and(tensor({1}), tensor({1})); }, {"and", "integer", "f64"});
  expect_user_error([] { logical_and(ints({1}), bools({1})); }, {"logical_and", "bool", "i32[1]", "bitwise_and"});
  expect_user_error([] { select(ints({1}), tensor({1}), tensor({2})); }, {"select", "bool", "i32[1]"});
}

TEST(Errors, UndefinedOperandIsNamed) {
  expect_user_error([] { add(tensor({1}), Tensor()); }, {"add", "operand 1", "undefined"});
}

TEST(Errors, EquationsNeedOneType) {
  expect_user_error([] { apply(add_op, {tensor({1}), tensor({1}, DType::F32)}); }, {"add", "f64[1]", "f32[1]"});
  expect_user_error([] { apply(add_op, {tensor({1})}); }, {"add", "2", "lhs rhs", "got 1"});
}

TEST(Rounding, ResultsRoundOnceToTheirType) {
  EXPECT_EQ((tensor({2048}, DType::F16) + 1).item(), 2048);  // 2049 is a tie
  EXPECT_EQ((tensor({2048}, DType::F16) + 3).item(), 2052);  // 2051 is a tie
  EXPECT_EQ((tensor({60000}, DType::F16) * 2).item(), inf);
  EXPECT_EQ((tensor({256}, DType::BF16) + 1).item(), 256);
  EXPECT_EQ(exp(tensor({1}, DType::BF16)).item(), 2.71875);
  EXPECT_EQ((tensor({1}, DType::F32) / 3).item(), static_cast<double>(1.0f / 3.0f));
}

}  // namespace
}  // namespace braintrace
