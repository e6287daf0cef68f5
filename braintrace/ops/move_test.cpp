// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/move.h"

#include <gtest/gtest.h>

#include "braintrace/ir/builder.h"
#include "braintrace/ops/math.h"
#include "braintrace/transforms/simplify.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

Tensor numbers(Shape shape) {  // 0, 1, 2, … in row-major order
  return reshape(arange(size_of(shape), DType::F64), shape);
}
std::vector<double> values(const Tensor& t) {
  std::vector<double> v;
  for (int64_t i = 0; i < t.size(); ++i) v.push_back(at(t.array(), i));
  return v;
}
using V = std::vector<double>;

TEST(Move, ShapeChanges) {
  const Tensor x = numbers({2, 3});
  EXPECT_EQ(values(transpose(x)), (V{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(reshape(x, {3, -1}).shape(), (Shape{3, 2}));
  EXPECT_EQ(expand_dims(x, -1).shape(), (Shape{2, 3, 1}));
  EXPECT_EQ(squeeze(expand_dims(x, 1), {1}).shape(), (Shape{2, 3}));
  EXPECT_EQ(values(broadcast_to(numbers({2, 1}), {2, 2})), (V{0, 0, 1, 1}));
  EXPECT_EQ(move_axis(numbers({2, 3, 4}), 0, 2).shape(), (Shape{3, 4, 2}));
  EXPECT_EQ(values(transpose(numbers({2, 2, 2}), {1, 2, 0})), (V{0, 4, 1, 5, 2, 6, 3, 7}));
}

TEST(Move, JoiningAndCutting) {
  const Tensor x = numbers({2, 2});
  EXPECT_EQ(values(concat({x, 10 + x}, 1)), (V{0, 1, 10, 11, 2, 3, 12, 13}));
  EXPECT_EQ(values(stack({x, 10 + x}, -1)), (V{0, 10, 1, 11, 2, 12, 3, 13}));
  EXPECT_EQ(values(slice(numbers({3, 4}), {1, 0}, {3, 4}, {1, 3})), (V{4, 7, 8, 11}));
  EXPECT_EQ(values(pad(numbers({3}), 9.0, {1}, {2}, {1})), (V{9, 0, 9, 1, 9, 2, 9, 9}));
  const Tensors parts = split(numbers({5}), Ints{2, 0, 3}, 0);
  EXPECT_EQ(values(parts[0]), (V{0, 1}));
  EXPECT_EQ(parts[1].size(), 0);
  EXPECT_EQ(values(parts[2]), (V{2, 3, 4}));
  EXPECT_EQ(values(split(numbers({2, 4}), 2, 1)[1]), (V{2, 3, 6, 7}));
}

TEST(Move, RollMovesForwardAndFlipTurnsRound) {
  EXPECT_EQ(values(roll(numbers({4}), 1, 0)), (V{3, 0, 1, 2}));
  EXPECT_EQ(values(roll(numbers({4}), -1, 0)), (V{1, 2, 3, 0}));
  EXPECT_EQ(values(roll(numbers({4}), 9, 0)), (V{3, 0, 1, 2}));
  EXPECT_EQ(values(roll(numbers({2, 2}), {1, 1}, {0, 1})), (V{3, 2, 1, 0}));
  EXPECT_EQ(roll(zeros({0}), 3, 0).size(), 0);
  EXPECT_EQ(values(flip(numbers({2, 3}), {1})), (V{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(values(flip(numbers({2, 3}), {0, 1})), (V{5, 4, 3, 2, 1, 0}));
}

TEST(Move, DynamicBlocksAreMovedInside) {
  const Tensor x  = numbers({3, 4});
  auto         at = [](std::vector<int64_t> v) { return Tensor(Array::of<int64_t>(v, {2})); };
  EXPECT_EQ(values(dynamic_slice(x, at({1, 2}), {2, 2})), (V{6, 7, 10, 11}));
  EXPECT_EQ(values(dynamic_slice(x, at({100, -100}), {2, 2})), (V{4, 5, 8, 9}));
  EXPECT_EQ(values(dynamic_slice(x, at({INT64_MAX, INT64_MIN}), {1, 1})), (V{8}));
  EXPECT_EQ(values(dynamic_update_slice(x, -numbers({1, 2}), at({5, 1}))),
            (V{0, 1, 2, 3, 4, 5, 6, 7, 8, -0.0, -1, 11}));
}

TEST(Move, Patterns) {
  EXPECT_EQ(values(arange(3)), (V{0, 1, 2}));
  EXPECT_EQ(values(arange(1, 2, 0.25)), (V{1, 1.25, 1.5, 1.75}));
  EXPECT_EQ(values(arange(3, 0, -1, DType::I32)), (V{3, 2, 1}));
  EXPECT_EQ(arange(3, 0, 1).size(), 0);
  EXPECT_NE(error_of([] { arange(0, 1e300, 1); }).find("too many to hold"), std::string::npos);
  EXPECT_EQ(values(linspace(0, 1, 5, DType::F64)), (V{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(values(linspace(2, 3, 1)), (V{2}));
  EXPECT_EQ(values(eye(2, 3, 1)), (V{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(values(eye(2)), (V{1, 0, 0, 1}));
  EXPECT_EQ(values(tril(1 + numbers({2, 3}))), (V{1, 0, 0, 4, 5, 0}));
  EXPECT_EQ(values(triu(1 + numbers({2, 3}), 1)), (V{0, 2, 3, 0, 0, 6}));
  EXPECT_EQ(values(one_hot(Array::of<int32_t>({2, 0, -1, 3}, {4}), 3)), (V{0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
}

// Names of the equations that remain after simplify.
std::vector<std::string> simplified(const Types& types, const std::function<Tensor(const Tensors&)>& f) {
  const Program            p = simplify(trace(types, [&](const Tensors& t) { return Tensors{f(t)}; }).program);
  std::vector<std::string> names;
  for (const Eqn& e : p.eqns) names.emplace_back(e.op->name);
  return names;
}
using Names = std::vector<std::string>;

TEST(Move, SimplifyRemovesNeedlessMoves) {
  const Types x = {{DType::F32, {2, 3}}};
  EXPECT_EQ(simplified(x, [](const Tensors& t) { return reshape(reshape(t[0], {6}), {3, 2}); }), Names{"reshape"});
  EXPECT_EQ(simplified(x, [](const Tensors& t) { return reshape(reshape(t[0], {6}), {2, 3}); }), Names{});
  EXPECT_EQ(simplified(x, [](const Tensors& t) { return transpose(transpose(t[0])); }), Names{});
  EXPECT_EQ(simplified(x,
                       [](const Tensors& t) {
                         return transpose(transpose(expand_dims(t[0], 0), {1, 2, 0}), {2, 1, 0});
                       }),
            (Names{"reshape", "transpose"}));
  EXPECT_EQ(simplified(x,
                       [](const Tensors& t) {
                         return broadcast_axes(broadcast_axes(t[0], {4, 2, 3}, {1, 2}), {4, 2, 5, 3}, {0, 1, 3});
                       }),
            Names{"broadcast"});
  EXPECT_EQ(simplified(x, [](const Tensors& t) { return slice(t[0], {0, 0}, {2, 3}); }), Names{});
  EXPECT_EQ(simplified(x, [](const Tensors& t) { return concat({t[0]}, 0); }), Names{});
  EXPECT_EQ(simplified(x, [](const Tensors& t) { return pad(t[0], 1.0, {0, 0}, {0, 0}); }), Names{});
  EXPECT_EQ(simplified(x, [](const Tensors& t) { return roll(t[0], 3, 1); }), Names{});
  EXPECT_EQ(simplified(x, [](const Tensors& t) { return flip(t[0], {}); }), Names{});
  EXPECT_EQ(simplified(x, [](const Tensors& t) { return t[0] + broadcast_to(zeros({3}), {2, 3}); }), Names{});
  // Controls: these do something and stay.
  EXPECT_EQ(simplified(x, [](const Tensors& t) { return roll(t[0], 1, 1); }), Names{"roll"});
  EXPECT_EQ(simplified(x, [](const Tensors& t) { return slice(t[0], {0, 0}, {2, 2}); }), Names{"slice"});
}

TEST(Move, BadInputIsExplained) {
  const Tensor x = numbers({2, 3});
  auto says      = [](const std::string& message, const char* word) { return message.find(word) != std::string::npos; };
  EXPECT_TRUE(says(error_of([&] { reshape(x, {4}); }), "6 elements"));
  EXPECT_TRUE(says(error_of([&] { reshape(x, {-1, -1}); }), "more than one"));
  EXPECT_TRUE(says(error_of([&] { apply1(reshape_op, {x}, {{"shape", Ints{-2, -3}}}); }), "negative"));
  EXPECT_TRUE(says(error_of([&] { transpose(x, {0, 0}); }), "permutation"));
  EXPECT_TRUE(says(error_of([&] { broadcast_to(x, {2, 4}); }), "[2,4]"));
  EXPECT_TRUE(says(error_of([&] { squeeze(x, {0}); }), "not 1"));
  EXPECT_TRUE(says(error_of([&] { expand_dims(x, 5); }), "axis 5"));
  EXPECT_TRUE(says(error_of([&] { concat({x, numbers({2})}, 0); }), "ranks differ"));
  EXPECT_TRUE(says(error_of([&] { concat({x, numbers({3, 3})}, 1); }), "outside axis 1"));
  EXPECT_TRUE(says(error_of([&] { concat({}, 0); }), "no tensors"));
  EXPECT_TRUE(says(error_of([&] { apply1(concat_op, {x}, {{"axis", int64_t{-1}}}); }), "expected 0 to 1"));
  EXPECT_TRUE(says(error_of([&] { slice(x, {0, 0}, {2, 4}); }), "does not fit"));
  EXPECT_TRUE(says(error_of([&] { slice(x, {0}, {2}); }), "one entry per axis"));
  EXPECT_TRUE(says(error_of([&] { slice(x, {0, 0}, {2, 2}, {1, 0}); }), "stride 0"));
  EXPECT_TRUE(says(error_of([&] { pad(x, 0.0, {-1, 0}, {0, 0}); }), "negative"));
  EXPECT_TRUE(says(error_of([&] { pad(x, 0.0, {0, 0}, {0, 0}, {0, INT64_MAX}); }), "too large"));
  EXPECT_TRUE(says(error_of([&] { split(x, 2, 1); }), "equal parts"));
  EXPECT_TRUE(says(error_of([&] { split(x, Ints{1, 1}, 1); }), "add up to 2"));
  EXPECT_TRUE(says(error_of([&] { dynamic_slice(x, arange(2), {3, 1}); }), "does not fit"));
  EXPECT_TRUE(says(error_of([&] { dynamic_slice(x, numbers({2}), {1, 1}); }), "integers"));
  EXPECT_TRUE(says(error_of([&] { dynamic_slice(x, arange(3), {1, 1}); }), "i32[3]"));
  EXPECT_TRUE(says(error_of([&] { dynamic_update_slice(x, numbers({2}), arange(2)); }), "rank"));
  EXPECT_TRUE(says(error_of([&] { flip(x, {0, 0}); }), "twice"));
  EXPECT_TRUE(says(error_of([&] { roll(x, {1, 2}, {0}); }), "one per axis"));
  EXPECT_TRUE(says(error_of([&] { iota({2}, 1); }), "axis 1"));
  EXPECT_TRUE(says(error_of([&] { arange(0, 1, 0); }), "step"));
  EXPECT_TRUE(says(error_of([&] { one_hot(x, 3); }), "integers"));
  EXPECT_TRUE(says(error_of([&] { tril(numbers({2})); }), "matrix"));
}

}  // namespace
}  // namespace braintrace
