// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/index.h"

#include <gtest/gtest.h>

#include "braintrace/ops/keys.h"
#include "braintrace/ops/move.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

Tensor indices(std::vector<int32_t> v, Shape s) { return Array::of<int32_t>(v, std::move(s)); }
Tensor numbers(Shape s) { return reshape(arange(size_of(s), DType::F64), s); }
Tensor tensor_of(std::vector<double> v, Shape s) { return Array::of<double>(v, std::move(s)); }
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

TEST(Index, ScatterSetReplacesAndTheLastOfEqualIndicesCounts) {
  const Tensor x = numbers({3}), u = tensor_of({7, 8, 9}, {3});
  EXPECT_TRUE(same(scatter_set(x, indices({1, 1, 0}, {3}), u), {9, 8, 2}, {3}));
  EXPECT_TRUE(
      same(scatter_set(numbers({2, 2}), indices({1}, {1}), tensor_of({5, 6}, {2, 1}), 1), {0, 5, 2, 6}, {2, 2}));
  const Tensor flags = Array::of<bool>({true, true}, {2});
  EXPECT_EQ(at(scatter_set(flags, indices({1}, {1}), Array::of<bool>({false}, {1})).array(), 1), 0);
}

TEST(Index, ScatterSetHandsBackOnlyWhatCounts) {
  const Tensor at_1_1_0 = indices({1, 1, 0}, {3}), zero(Type{DType::F64, {3}}, 0);
  const auto   back     = [&](size_t operand) {
    const TransposeArgs a{scatter_set_op,         Attrs{{keys::axis, int64_t{0}}, {keys::batch, int64_t{0}}},
                          {zero, at_1_1_0, zero}, {zero.type(), at_1_1_0.type(), zero.type()},
                          {true, false, true},    {tensor_of({1, 2, 3}, {3})}};
    return scatter_set_op.transpose(a)[operand];
  };
  EXPECT_TRUE(same(back(0), {0, 0, 3}, {3}));
  EXPECT_TRUE(same(back(2), {0, 2, 1}, {3}));
}

TEST(Index, AlongAxis) {
  const Tensor x = numbers({2, 3}), i = indices({2, 0, 1, 1}, {2, 2});
  EXPECT_TRUE(same(take_along_axis(x, i, 1), {2, 0, 4, 4}, {2, 2}));
  EXPECT_TRUE(same(take_along_axis(x, indices({1, 0, 1}, {1, 3}), 0), {3, 1, 5}, {1, 3}));
  EXPECT_TRUE(same(scatter_add_along_axis(x, i, ones({2, 2}, DType::F64), 1), {1, 1, 3, 3, 6, 5}, {2, 3}));
  EXPECT_TRUE(same(scatter_set_along_axis(x, i, tensor_of({7, 8, 9, 6}, {2, 2}), 1), {8, 1, 7, 3, 6, 5}, {2, 3}));
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
