// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/reduce.h"

#include "braintrace/ops/compare.h"
#include "braintrace/ops/cumulative.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/softmax.h"
#include "tests/support/values.h"

namespace braintrace {
namespace {

using namespace testing_support;

Tensor matrix() { return tensor({1, 2, 3, 4, 5, 6}, {2, 3}); }

TEST(Reduce, AxesAndShapes) {
  const Tensor x = matrix();
  expect_values(sum(x), {21});
  EXPECT_EQ(sum(x).shape(), Shape{});
  expect_values(sum(x, 0), {5, 7, 9});
  expect_values(sum(x, -1), {6, 15});
  expect_values(sum(x, {0, 1}), {21});
  EXPECT_EQ(sum(x, 1, true).shape(), (Shape{2, 1}));
  EXPECT_EQ(max(x, {-1, -2}, true).shape(), (Shape{1, 1}));
  expect_values(sum(x, Ints{}), values(x));
  expect_values(max(x, Ints{}), values(x));
}

TEST(Reduce, KnownValues) {
  const Tensor x = matrix();
  expect_values(prod(x, 1), {6, 120});
  expect_values(max(x, 0), {4, 5, 6});
  expect_values(min(x, 0), {1, 2, 3});
  expect_values(mean(x, 1), {2, 5});
  expect_values(var(x, 1), {2.0 / 3, 2.0 / 3});
  expect_values(var(x, 1, false, 1), {1, 1});
}

TEST(Reduce, NanWinsAndInfinitiesAdd) {
  const Tensor x = tensor({1, nan, 3, inf, 2, -inf}, {2, 3});
  expect_values(max(x, 1), {nan, inf});
  expect_values(min(x, 1), {nan, -inf});
  expect_values(sum(x, 1), {nan, nan});
  expect_values(argmax(x, 1), {1, 0});
  expect_values(argmin(x, 1), {1, 2});
}

TEST(Reduce, Integers) {
  expect_values(sum(ints({INT32_MAX, 1})), {INT32_MIN});
  expect_values(prod(ints({65536, 65537})), {65536});
  expect_values(max(ints({-3, -1, -2})), {-1});
  EXPECT_EQ(mean(ints({1, 2})).dtype(), DType::F32);
  const Tensor halves = convert(tensor({256, 256, 0, 0}, {4}), DType::F16);  // the square of 256 leaves the range
  EXPECT_EQ(mean(broadcast_to(halves, {20000, 4})).dtype(), DType::F16);
  expect_values(mean(broadcast_to(halves, {20000, 4})), {128});
  expect_values(var(halves), {16384});
  expect_values(mean(ints({1, 2})), {1.5});
}

TEST(Reduce, BoolsAreCounted) {
  const Tensor b = bools({1, 1, 0});
  EXPECT_EQ(sum(b).dtype(), DType::I32);
  expect_values(sum(b), {2});
  expect_values(mean(bools({1, 0})), {0.5});
  expect_values(any(b), {1});
  expect_values(all(b), {0});
  expect_values(all(tensor({1, 1, 0, 1}, {2, 2}, DType::Bool), 1), {1, 0});
  EXPECT_EQ(max(b).dtype(), DType::Bool);
  expect_user_error([] { any(ints({1})); }, {"reduce_any", "bool", "i32[1]"});
}

TEST(Reduce, EmptyAxes) {
  const Tensor x = tensor({}, {2, 0});
  expect_values(sum(x, 1), {0, 0});
  expect_values(prod(x, 1), {1, 1});
  expect_values(any(tensor({}, {0}, DType::Bool)), {0});
  expect_values(all(tensor({}, {0}, DType::Bool)), {1});
  EXPECT_EQ(max(x, 0).shape(), Shape{0});
  expect_values(mean(x, 1), {nan, nan});
  expect_user_error([&] { max(x, 1); }, {"reduce_max", "axis 1", "f64[2,0]", "empty"});
  expect_user_error([&] { argmin(x, 1); }, {"argmin", "axis 1", "empty"});
  expect_user_error([&] { logsumexp(x, 1); }, {"logsumexp", "axis 1", "empty"});
  expect_user_error([&] { var(x, 1); }, {"var", "0"});
}

TEST(Reduce, WrongAxesAreNamed) {
  expect_user_error([] { sum(matrix(), 2); }, {"reduce_sum", "2"});
  expect_user_error([] { sum(matrix(), {0, 0}); }, {"reduce_sum", "0"});
  expect_user_error([] { argmax(matrix(), -3); }, {"argmax", "-3"});
}

TEST(Reduce, Positions) {
  const Tensor x = tensor({1, 5, 5, 7, 0, 0}, {2, 3});
  EXPECT_EQ(argmax(x).dtype(), DType::I32);
  expect_values(argmax(x), {3});
  expect_values(argmin(x), {4});
  expect_values(argmax(x, 1), {1, 0});
  expect_values(argmin(x, 0), {0, 1, 1});
  EXPECT_EQ(argmax(x, -1, true).shape(), (Shape{2, 1}));
  EXPECT_EQ(argmax(x, {}, true).shape(), (Shape{1, 1}));
}

// The sum of many small f16 terms is formed in double and rounded once.
TEST(Reduce, HalfAccumulatesInDouble) {
  const Tensor x = tensor(Values(4096, 1), DType::F16);
  EXPECT_EQ(sum(x).item(), 4096);
  EXPECT_EQ(values(cumsum(x, 0)).back(), 4096);
}

TEST(Softmax, KnownValues) {
  const double l3 = std::log(3.0);
  expect_values(softmax(tensor({0, l3})), {0.25, 0.75});
  expect_values(log_softmax(tensor({0, l3})), {std::log(0.25), std::log(0.75)});
  expect_values(logsumexp(tensor({0, l3})), {std::log(4.0)});
  expect_values(softmax(tensor({0, l3, 0, 0}, {2, 2}), 0), {0.5, 0.75, 0.5, 0.25});
  expect_values(softmax(tensor({0, 0, 0, 0}, {2, 2}), {0, 1}), {0.25, 0.25, 0.25, 0.25});
}

TEST(Softmax, LargeAndInfiniteInputs) {
  expect_values(softmax(tensor({1000, 1000, -1000})), {0.5, 0.5, 0});
  expect_values(logsumexp(tensor({1000, 1000})), {1000 + std::log(2.0)});
  expect_values(log_softmax(tensor({0, -1000})), {0, -1000});
  expect_values(logsumexp(tensor({-inf, -inf})), {-inf});
  expect_values(logsumexp(tensor({inf, 0})), {inf});
  expect_values(softmax(tensor({-inf, 0})), {0, 1});
  expect_values(softmax(tensor({nan, 0})), {nan, nan});
  expect_user_error([] { softmax(ints({1})); }, {"softmax", "i32"});
}

TEST(Cumulative, KnownValues) {
  const Tensor x = tensor({3, 1, 4, 1, 5}), m = tensor({1, 2, 3, 4}, {2, 2});
  expect_values(cumsum(x, 0), {3, 4, 8, 9, 14});
  expect_values(cumsum(x, -1, true), {14, 11, 10, 6, 5});
  expect_values(cumprod(x, 0), {3, 3, 12, 12, 60});
  expect_values(cummax(x, 0), {3, 3, 4, 4, 5});
  expect_values(cummin(x, 0), {3, 1, 1, 1, 1});
  expect_values(cumsum(m, 0), {1, 2, 4, 6});
  expect_values(cumsum(m, 1), {1, 3, 3, 7});
  expect_values(cummax(tensor({1, nan, 2}), 0), {1, nan, nan});
  expect_values(cummax(tensor({1, nan, 2}), 0, true), {nan, nan, 2});
  expect_values(cumsum(bools({1, 1, 0, 1}), 0), {1, 2, 2, 3});
  expect_values(cumprod(ints({65536, 65536, 2}), 0), {65536, 0, 0});
  EXPECT_EQ(cumsum(tensor({}, {2, 0}), 1).shape(), (Shape{2, 0}));
  expect_user_error([&] { cumsum(x, 1); }, {"cumsum", "1"});
}

}  // namespace
}  // namespace braintrace
