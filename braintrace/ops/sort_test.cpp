// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/sort.h"

#include "braintrace/ops/along.h"
#include "tests/support/values.h"

namespace braintrace {
namespace {

using namespace testing_support;

TEST(Sort, OrdersAlongTheAxis) {
  const Tensor x = tensor({3, 1, 2, 6, 5, 4}, {2, 3});
  expect_values(sort(x), {1, 2, 3, 4, 5, 6});
  expect_values(sort(x, 0), {3, 1, 2, 6, 5, 4});
  expect_values(sort(x, 1, true), {3, 2, 1, 6, 5, 4});
  expect_values(argsort(x), {1, 2, 0, 2, 1, 0});
  EXPECT_EQ(argsort(x).dtype(), DType::I32);
}

TEST(Sort, IsStable) {
  const Tensor x = ints({2, 1, 2, 1});
  expect_values(argsort(x), {1, 3, 0, 2});
  expect_values(argsort(x, 0, true), {0, 2, 1, 3});
}

TEST(Sort, NanIsLargest) {
  const Tensor x = tensor({nan, 1, -inf, inf});
  expect_values(sort(x), {-inf, 1, inf, nan});
  expect_values(sort(x, 0, true), {nan, inf, 1, -inf});
}

TEST(Sort, EveryElementType) {
  for (DType t : all_dtypes) expect_values(sort(tensor({1, 0, 1, 0}, t)), {0, 0, 1, 1});
  const int64_t big = (int64_t{1} << 53) + 1;  // integers are not compared as doubles
  const Tensor  x(Array::of<int64_t>({big, big - 1}, {2}));
  expect_values(argsort(x), {1, 0});
}

TEST(TopK, LargestFirst) {
  const Sorted s = top_k(tensor({3, 1, 4, 1, 5, 9}, {2, 3}), 2);
  expect_values(s.values, {4, 3, 9, 5});
  expect_values(s.indices, {2, 0, 2, 1});
  EXPECT_EQ(top_k(tensor({1, 2}), 0).values.shape(), Shape{0});
  expect_user_error([] { top_k(tensor({1, 2}), 3); }, {"top_k", "k = 3", "2 elements"});
  expect_user_error([] { top_k(tensor({1, 2}), 1, 1); }, {"top_k", "1"});
}

TEST(Along, TakesAndAddsByIndex) {
  const Tensor x = tensor({1, 2, 3, 4, 5, 6}, {2, 3}), i = tensor({2, 0, 0, 1}, {2, 2}, DType::I32);
  expect_values(take_along(x, i, 1), {3, 1, 4, 5});
  expect_values(add_along(tensor({1, 2, 3, 4}, {2, 2}), tensor({0, 0, 2, 1}, {2, 2}, DType::I32), 1, 3),
                {3, 0, 0, 0, 4, 3});
  expect_values(take_along(x, tensor({-5, 9}, {2, 1}, DType::I32), 1), {1, 6});
  expect_user_error([&] { take_along(x, tensor({0}, {1, 1}, DType::I32), 1); }, {"take_along", "f64[2,3]", "i32[1,1]"});
  expect_user_error([&] { take_along(x, x, 1); }, {"take_along", "integers"});
}

}  // namespace
}  // namespace braintrace
