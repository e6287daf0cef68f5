// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/math.h"

#include "tests/support/error_of.h"
#include "tests/support/values.h"

namespace braintrace {
namespace {

using namespace testing_support;

constexpr double i32_max = INT32_MAX, i32_min = INT32_MIN;

TEST(Arithmetic, KnownValues) {
  const Tensor a = tensor({6, -7, 0.5}), b = tensor({4, 2, -0.25});
  expect_values(a + b, {10, -5, 0.25});
  expect_values(a - b, {2, -9, 0.75});
  expect_values(a * b, {24, -14, -0.125});
  expect_values(a / b, {1.5, -3.5, -2});
  expect_values(-a, {-6, 7, -0.5});
  expect_values(square(a), {36, 49, 0.25});
  expect_values(reciprocal(b), {0.25, 0.5, -4});
  expect_values(abs(a), {6, 7, 0.5});
  expect_values(sign(tensor({3, -2, 0, nan})), {1, -1, 0, nan});
}

TEST(Arithmetic, InfinitiesAndNan) {
  expect_values(tensor({1, -1, 0}) / tensor({0, 0, 0}), {inf, -inf, nan});
  expect_values(tensor({inf, inf}) + tensor({-inf, 1}), {nan, inf});
  expect_values(tensor({inf, nan}) * tensor({0, 1}), {nan, nan});
}

TEST(Arithmetic, IntegersWrap) {
  expect_values(ints({i32_max}) + 1, {i32_min});
  expect_values(ints({i32_min}) - 1, {i32_max});
  expect_values(ints({65536}) * 65537, {65536});
  expect_values(-ints({i32_min}), {i32_min});
  expect_values(abs(ints({i32_min, -3})), {i32_min, 3});
  expect_values(tensor({0}, DType::U32) - 1, {UINT32_MAX});
  const Tensor big(Array::of<int64_t>({INT64_MIN}, {1}));
  EXPECT_EQ((big - 1).array().data<int64_t>()[0], INT64_MAX);
  EXPECT_EQ((big / -1).array().data<int64_t>()[0], INT64_MIN);
  EXPECT_EQ(rem(big, -1).array().data<int64_t>()[0], 0);
}

TEST(Arithmetic, IntegerDivisionTruncatesAndZeroGivesZero) {
  expect_values(ints({7, -7, 7, -7, 5}) / ints({2, 2, -2, -2, 0}), {3, -3, -3, 3, 0});
  expect_values(rem(ints({7, -7, 7, -7, 5}), ints({2, 2, -2, -2, 0})), {1, -1, 1, -1, 0});
  expect_values(mod(ints({7, -7, 7, -7, 5}), ints({2, 2, -2, -2, 0})), {1, 1, -1, -1, 0});
}

TEST(Remainders, FollowTheirSign) {
  const Tensor a = tensor({7, -7, 7, -7, 5.5}), b = tensor({3, 3, -3, -3, 2});
  expect_values(rem(a, b), {1, -1, 1, -1, 1.5});
  expect_values(mod(a, b), {1, 2, -2, -1, 1.5});
  expect_values(mod(tensor({1, nan, inf}), tensor({0, 1, 2})), {nan, nan, nan});
  EXPECT_TRUE(std::signbit(mod(tensor({6}), tensor({-3})).item()));
}

TEST(Power, KnownValues) {
  expect_values(pow(tensor({2, 9, -2, 0, 0, nan}), tensor({10, 0.5, 3, 0, -1, 0})), {1024, 3, -8, 1, inf, 1});
  expect_values(pow(tensor({-2}), 0.5), {nan});
  expect_values(pow(ints({3, -2, 2, 1, -1, 0, 7}), ints({4, 3, 33, -5, -3, -1, 0})), {81, -8, 0, 1, -1, 0, 1});
}

TEST(Power, IntegerExponents) {
  const Tensor x = tensor({2, -3, 0.5});
  expect_values(integer_pow(x, 0), {1, 1, 1});
  expect_values(integer_pow(x, 5), {32, -243, 0.03125});
  expect_values(integer_pow(x, -2), {0.25, 1.0 / 9, 4});
  expect_values(integer_pow(ints({3}), 3), {27});
  expect_user_error([] { integer_pow(ints({3}), -1); }, {"integer_pow", "-1", "convert"});
  expect_user_error([] { integer_pow(bools({1}), 2); }, {"integer_pow", "bool"});
}

TEST(Rounding, HalvesGoToEven) {
  const Tensor x = tensor({0.5, 1.5, 2.5, -0.5, -1.5, 2.4, inf, nan});
  expect_values(round(x), {0, 2, 2, 0, -2, 2, inf, nan});
  expect_values(floor(x), {0, 1, 2, -1, -2, 2, inf, nan});
  expect_values(ceil(x), {1, 2, 3, 0, -1, 3, inf, nan});
}

TEST(Choice, MaxMinClamp) {
  const Tensor a = tensor({1, 5, nan, 2}), b = tensor({3, 2, 1, nan});
  expect_values(maximum(a, b), {3, 5, nan, nan});
  expect_values(minimum(a, b), {1, 2, nan, nan});
  expect_values(maximum(ints({1, 5}), 3), {3, 5});
  expect_values(clamp(tensor({-2, 0.5, 7, nan}), 0, 1), {0, 0.5, 1, nan});
  expect_values(clamp(ints({-2, 3, 7}), 0, 5), {0, 3, 5});
  expect_values(clamp(tensor({5}), tensor({nan}), 1), {nan});
}

TEST(Choice, SelectKeepsBitsOfEveryType) {
  for (DType t : all_dtypes)
    expect_values(select(bools({1, 0, 1}), tensor({1, 0, 1}, t), tensor({0, 1, 1}, t)), {1, 1, 1});
  expect_values(select(bools({1, 0}), tensor({1, nan}), tensor({nan, 2})), {1, 2});
}

TEST(Convert, RoundsTruncatesAndSaturates) {
  expect_values(convert(tensor({1.9, -1.9, 1e10, nan}), DType::I32), {1, -1, i32_max, 0});
  expect_values(convert(ints({0, 5}), DType::Bool), {0, 1});
  expect_values(convert(tensor({2049, 1e-8}), DType::F16), {2048, 0});
}

TEST(Convert, RefusesNumbersThatDoNotFit) {
  EXPECT_EQ(convert(Tensor(5), DType::U32).item(), 5);
  EXPECT_NE(error_of([] { convert(Tensor(-1), DType::U32); }).find("-1 does not fit u32, which goes from 0 to 429"),
            std::string::npos);
  EXPECT_NE(error_of([] { convert(Tensor(1e10), DType::I32); }).find("does not fit i32"), std::string::npos);
}

TEST(StopGradient, IsTheIdentity) {
  expect_values(stop_gradient(tensor({1, nan, -inf})), {1, nan, -inf});
  EXPECT_EQ(stop_gradient(bools({1})).dtype(), DType::Bool);
}

}  // namespace
}  // namespace braintrace
