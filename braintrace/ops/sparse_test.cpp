// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/sparse.h"

#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/move.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

Tensor ints(std::vector<int32_t> v) {
  const auto n = static_cast<int64_t>(v.size());
  return Array::of<int32_t>(v, {n});
}

void expect_near(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.type(), b.type());
  for (int64_t i = 0; i < a.size(); ++i) EXPECT_NEAR(at(a.array(), i), at(b.array(), i), 1e-13);
}

TEST(Sparse, ProductsEqualDenseProducts) {
  Rng           rng(12);
  SparsePattern p      = csr(ints({0, 3, 5, 5, 8}), ints({1, 2, 4, 0, 5, 3, 4, 5}), 4, 6);
  const Tensor  values = random_array(rng, {DType::F64, {8}});
  const Tensor  W      = to_dense(p, values);
  ASSERT_EQ(W.shape(), (Shape{4, 6}));
  EXPECT_EQ(at(W.array(), 1), at(values.array(), 0));  // row 0, column 1
  EXPECT_EQ(at(W.array(), 6), at(values.array(), 3));  // row 1, column 0
  const Tensor x = random_array(rng, {DType::F64, {3, 4}}), v = random_array(rng, {DType::F64, {4}});
  expect_near(dot(x, p, values), dot(x, W));
  expect_near(dot(v, p, values), dot(v, W));
  const Tensor z = random_array(rng, {DType::F64, {6, 2}}), u = random_array(rng, {DType::F64, {6}});
  expect_near(dot(p, values, z), dot(W, z));
  expect_near(dot(p, values, u), dot(W, u));
  expect_near(dot(x, transposed(transposed(p)), values), dot(x, W));
}

TEST(Sparse, EntriesAtOnePlaceAddUp) {
  const SparsePattern p = coo(ints({0, 0, 1}), ints({1, 1, 0}), 2, 2);
  const Tensor        w = Array::of<double>({2, 3, 4}, {3});
  expect_near(to_dense(p, w), Array::of<double>({0, 5, 4, 0}, {2, 2}));
  expect_near(dot(Array::of<double>({10, 1}, {2}), p, w), Array::of<double>({4, 50}, {2}));
}

TEST(Sparse, EmptyMatrixGivesZero) {
  const SparsePattern p = csr(ints({0, 0}), ints({}), 1, 3);
  expect_near(dot(ones({1}, DType::F64), p, zeros({0}, DType::F64)), Tensor(Array(Type{DType::F64, {3}})));
}

TEST(Sparse, BadInputIsExplained) {
  auto says = [](const std::string& message, const char* word) { return message.find(word) != std::string::npos; };
  EXPECT_TRUE(says(error_of([] { coo(ints({0, 2}), ints({0, 0}), 2, 2); }), "entry 1 has row 2"));
  EXPECT_TRUE(says(error_of([] { coo(ints({0, 1}), ints({0, -1}), 2, 2); }), "column -1"));
  EXPECT_TRUE(says(error_of([] { coo(ints({0, 1}), ints({0}), 2, 2); }), "equal length"));
  EXPECT_TRUE(says(error_of([] { csr(ints({0, 2, 1}), ints({0}), 2, 2); }), "not decrease"));
  EXPECT_TRUE(says(error_of([] { csr(ints({0, 1}), ints({0}), 2, 2); }), "3 integers"));
  EXPECT_TRUE(says(error_of([] { csr(ints({0, 1, 2}), ints({0}), 2, 2); }), "end at the 1 stored"));
  const SparsePattern p = coo(ints({0}), ints({1}), 2, 3);
  EXPECT_TRUE(says(error_of([&] { dot(ones({3}), p, ones({1})); }), "size 2"));
  EXPECT_TRUE(says(error_of([&] { dot(p, ones({1}), ones({2})); }), "2 by 3"));
  EXPECT_TRUE(says(error_of([&] { dot(ones({2}), p, ones({2})); }), "one per entry"));
  // A pattern that was not checked at construction is checked when it is used.
  EXPECT_TRUE(says(error_of([&] { dot(ones({2}), {ints({0}), ints({9}), 2, 3}, ones({1})); }), "to index 9"));
}

}  // namespace
}  // namespace braintrace
