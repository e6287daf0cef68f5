// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "braintrace/ir/builder.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "tests/support/values.h"

namespace braintrace {
namespace {

using namespace testing_support;

const Tensor six = tensor({1, 2, 3, 4, 5, 6}, {2, 3});

TEST(TensorMethods, RowsOfTheFirstAxis) {
  expect_values(six[0], {1, 2, 3});
  expect_values(six[-1], {4, 5, 6});
  expect_values(six[size_t{1}][2], {6});
  EXPECT_EQ(six[1].shape(), Shape({3}));
  expect_values(six[ints({1, 1, 0})], {4, 5, 6, 4, 5, 6, 1, 2, 3});
  expect_user_error([] { six[2]; }, {"index 2", "first axis of f64[2,3]", "-2 to 1"});
  expect_user_error([] { six[-3]; }, {"index -3"});
  expect_user_error([] { Tensor(1.0)[0]; }, {"no axis"});
  expect_user_error([] { Tensor()[0]; }, {"undefined"});
  expect_user_error([] { six[1.5]; }, {"take"});
}

TEST(TensorMethods, Shapes) {
  EXPECT_EQ(six.reshape({3, 2}).shape(), Shape({3, 2}));
  EXPECT_EQ(six.reshape(3, -1).shape(), Shape({3, 2}));
  EXPECT_EQ(six.reshape(-1).shape(), Shape({6}));
  EXPECT_EQ(six.reshape(1, 6).squeeze({0}).shape(), Shape({6}));
  expect_values(six.flatten(), {1, 2, 3, 4, 5, 6});
  expect_values(six.T(), {1, 4, 2, 5, 3, 6});
  expect_values(six.transpose(), {1, 4, 2, 5, 3, 6});
  EXPECT_EQ(six.reshape(1, 2, 3).transpose({2, 0, 1}).shape(), Shape({3, 1, 2}));
  EXPECT_EQ(six.astype(DType::I32).dtype(), DType::I32);
}

TEST(TensorMethods, Reductions) {
  expect_values(six.sum(), {21});
  expect_values(six.sum(0), {5, 7, 9});
  EXPECT_EQ(six.sum({0, 1}, true).shape(), Shape({1, 1}));
  expect_values(six.mean(-1), {2, 5});
  expect_values(six.max(0), {4, 5, 6});
  expect_values(six.min(), {1});
  expect_values(six.prod(1), {6, 120});
  expect_values(six.var(), {35.0 / 12});
  expect_values(six.var(1, false, 1), {1, 1});
  expect_values(six.argmax(1), {2, 2});
  expect_values(six.argmin(), {0});
  expect_values((six > 0).all(), {1});
  expect_values((six > 6).any(0), {0, 0, 0});
}

TEST(TensorMethods, AlongAxesAndElementwise) {
  const Tensor x = tensor({3, 1, 2});
  expect_values(x.sort(), {1, 2, 3});
  expect_values(x.sort(0, true), {3, 2, 1});
  expect_values(x.argsort(), {1, 2, 0});
  expect_values(x.cumsum(0), {3, 4, 6});
  expect_values(x.cumprod(0), {3, 3, 6});
  expect_values(x.clip(1.5, 2.5), {2.5, 1.5, 2});
  expect_values(tensor({1.4, 1.6}).round(), {1, 2});
  expect_values(six.dot(x), {11, 29});
  expect_values(six.take(ints({2}), 1), {3, 6});
}

TEST(TensorOperators, CompareElementwise) {
  const Tensor x = tensor({-1, 0, 2});
  expect_values(x > 0, {0, 0, 1});
  expect_values(x >= 0, {0, 1, 1});
  expect_values(0 < x, {0, 0, 1});
  expect_values(x <= 0, {1, 1, 0});
  expect_values(x == 0, {0, 1, 0});
  expect_values(x != tensor({-1, 1, 2}), {0, 1, 0});
  EXPECT_EQ((x > 0).dtype(), DType::Bool);
  expect_values((x > -1) & (x < 1), {0, 1, 0});
  expect_values((x < 0) | (x > 1), {1, 0, 1});
  expect_values((x < 0) ^ (x < 1), {0, 1, 0});
  expect_values(~(x < 0), {0, 1, 1});
}

TEST(TensorOperators, Arithmetic) {
  const Tensor x = tensor({-7, 7});
  expect_values(x % 4, {1, 3});
  expect_values(-x, {7, -7});
  expect_values(+x, {-7, 7});
}

TEST(TensorOperators, CompoundAssignmentMakesANewTensor) {
  Tensor       x    = tensor({1, 2});
  const Tensor same = x;
  x += 1;
  x *= tensor({2, 3});
  x -= 1.0;
  x /= 2;
  expect_values(x, {1.5, 4});
  expect_values(same, {1, 2});
}

// A result cannot be written: the new value would be lost.
template <class T>
concept CanAdd = requires(T&& x) {
  std::forward<T>(x) += 1.0;
};
static_assert(std::is_assignable_v<Tensor&, Tensor> && std::is_assignable_v<Tensor&, const Tensor&>);
static_assert(!std::is_assignable_v<Tensor, Tensor> && !std::is_assignable_v<Tensor, const Tensor&>);
static_assert(!std::is_assignable_v<decltype(six[0]), Tensor> && !std::is_assignable_v<Tensor, double>);
static_assert(CanAdd<Tensor&> && !CanAdd<Tensor>);

TEST(TensorMethods, BecomeEquationsOfATrace) {
  const Traced p = trace({{DType::F64, {2, 3}}}, [](const Tensors& in) {
    const Tensor& x = in[0];
    return Tensors{select(x > 2, x, 0).sum(1) + x[0][0] + x.T()[2].max()};
  });
  EXPECT_FALSE(p.program.eqns.empty());
  expect_values(replay(p.program, p.constants, {six})[0], {10, 22});
}

}  // namespace
}  // namespace braintrace
