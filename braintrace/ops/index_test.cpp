// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/index.h"

#include <gtest/gtest.h>

#include "braintrace/ops/move.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

Tensor indices(std::vector<int32_t> v, Shape s) { return Array::of<int32_t>(v, std::move(s)); }
Tensor numbers(Shape s) { return reshape(arange(size_of(s), DType::F64), s); }
bool   same(const Tensor& t, const std::vector<double>& v, const Shape& s) {
    return identical(t.array(), Array::of<double>(v, s));
}

TEST(Index, TakePutsIndexAxesInPlaceOfTheAxis) {
  const Tensor x = numbers({2, 3});
  EXPECT_TRUE(same(take(x, indices({1, 1, 0}, {3}), 0), {3, 4, 5, 3, 4, 5, 0, 1, 2}, {3, 3}));
  EXPECT_TRUE(same(take(x, indices({2, 0}, {1, 2}), -1), {2, 0, 5, 3}, {2, 1, 2}));
  EXPECT_TRUE(same(take(x, indices({1}, {}), 0), {3, 4, 5}, {3}));
}

TEST(Index, ScatterAddsEqualIndicesUp) {
  const Tensor u = numbers({3});
  EXPECT_TRUE(same(scatter_add(ones({2}, DType::F64), indices({1, 1, 0}, {3}), u), {3, 2}, {2}));
  const Array half =
      scatter_add(zeros({1}, DType::F16), indices(std::vector<int32_t>(4096, 0), {4096}), ones({4096}, DType::F16))
          .array();
  EXPECT_EQ(at(half, 0), 4096);  // f16 steps are 4 there: the sum is kept in double and rounded once
  const Array wrapped =
      scatter_add(Array::of<int32_t>({INT32_MAX}, {1}), indices({0}, {1}), Array::of<int32_t>({1}, {1})).array();
  EXPECT_EQ(at(wrapped, 0), INT32_MIN);
}

TEST(Index, AlongAxis) {
  const Tensor x = numbers({2, 3}), i = indices({2, 0, 1, 1}, {2, 2});
  EXPECT_TRUE(same(take_along_axis(x, i, 1), {2, 0, 4, 4}, {2, 2}));
  EXPECT_TRUE(same(take_along_axis(x, indices({1, 0, 1}, {1, 3}), 0), {3, 1, 5}, {1, 3}));
  EXPECT_TRUE(same(scatter_add_along_axis(x, i, ones({2, 2}, DType::F64), 1), {1, 1, 3, 3, 6, 5}, {2, 3}));
}

TEST(Index, BadInputIsExplained) {
  const Tensor x = numbers({2, 3});
  auto says      = [](const std::string& message, const char* word) { return message.find(word) != std::string::npos; };
  EXPECT_TRUE(says(error_of([&] { take(x, indices({2}, {1}), 0); }), "index 2 at position 0 is outside 0 … 1"));
  EXPECT_TRUE(says(error_of([&] { take(x, indices({-1}, {1}), 0); }), "index -1"));
  EXPECT_TRUE(says(error_of([&] { take(x, x, 0); }), "integers"));
  EXPECT_TRUE(says(error_of([&] { take(x, indices({0}, {1}), 2); }), "axis 2"));
  EXPECT_TRUE(says(error_of([&] { take(zeros({0}), indices({0}, {1}), 0); }), "outside"));
  EXPECT_TRUE(says(error_of([&] { scatter_add(x, indices({0, 7}, {2}), x, 0); }), "index 7"));
  EXPECT_TRUE(says(error_of([&] { scatter_add(x, indices({0}, {1}), x, 0); }), "f64[1,3]"));
  EXPECT_TRUE(says(error_of([&] { take_along_axis(x, indices({0}, {1}), 0); }), "except along axis 0"));
  EXPECT_TRUE(says(error_of([&] { scatter_add_along_axis(x, indices({0, 0}, {2, 1}), x, 1); }), "shape of indices"));
}

}  // namespace
}  // namespace braintrace
