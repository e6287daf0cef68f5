// SPDX-License-Identifier: Apache-2.0
// What the simplify rules of the elementwise and reduction families remove, and what they must keep.
#include <gtest/gtest.h>

#include "braintrace/ir/builder.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/cumulative.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/simplify.h"

namespace braintrace {
namespace {

// Equations left of f(x), x: f32[3] unless told otherwise.
template <class F>
size_t left(F f, DType dtype = DType::F32) {
  const Traced t = trace({Type{dtype, {3}}}, [&](const Tensors& a) { return Tensors{f(a[0])}; });
  return simplify(t.program).eqns.size();
}

TEST(SimplifyRules, UnitsVanish) {
  EXPECT_EQ(left([](const Tensor& x) { return x * 1; }), 0u);
  EXPECT_EQ(left([](const Tensor& x) { return 1 * x; }), 0u);
  EXPECT_EQ(left([](const Tensor& x) { return x + 0; }), 0u);
  EXPECT_EQ(left([](const Tensor& x) { return 0 + x - 0; }), 0u);
  EXPECT_EQ(left([](const Tensor& x) { return x / 1; }), 0u);
  EXPECT_EQ(left([](const Tensor& x) { return integer_pow(x, 1); }), 0u);
  EXPECT_EQ(left([](const Tensor& x) { return pow(x, 1); }), 0u);
  EXPECT_EQ(left([](const Tensor& x) { return sum(x, Ints{}); }), 0u);
  EXPECT_EQ(left([](const Tensor& x) { return max(x, Ints{}); }), 0u);
}

TEST(SimplifyRules, PairsVanish) {
  EXPECT_EQ(left([](const Tensor& x) { return -(-x); }), 0u);
  EXPECT_EQ(left([](const Tensor& x) { return -(-(-x)); }), 1u);
  EXPECT_EQ(left([](const Tensor& x) { return x * -1 * -1; }), 0u);
  EXPECT_EQ(left([](const Tensor& x) { return stop_gradient(stop_gradient(x)); }), 1u);
  EXPECT_EQ(left([](const Tensor& x) { return logical_not(logical_not(x)); }, DType::Bool), 0u);
}

TEST(SimplifyRules, ConvertThereAndBackOnlyIfLossless) {
  auto via = [](DType t) { return [t](const Tensor& x) { return convert(convert(x, t), x.dtype()); }; };
  EXPECT_EQ(left(via(DType::F64)), 0u);
  EXPECT_EQ(left(via(DType::F16)), 2u);
  EXPECT_EQ(left(via(DType::I32)), 2u);
  EXPECT_EQ(left(via(DType::F32), DType::I32), 2u);
  EXPECT_EQ(left(via(DType::F64), DType::I32), 0u);
  EXPECT_EQ(left(via(DType::F64), DType::I64), 2u);
  EXPECT_EQ(left(via(DType::F16), DType::Bool), 0u);
  EXPECT_EQ(left(via(DType::F32), DType::BF16), 0u);
  EXPECT_EQ(left(via(DType::I64), DType::U32), 0u);
}

TEST(SimplifyRules, KnownChoices) {
  EXPECT_EQ(left([](const Tensor& x) { return select(Tensor(Type{DType::Bool, {3}}, 1), x, exp(x)); }), 0u);
  EXPECT_EQ(left([](const Tensor& x) { return select(greater(x, 0), x, x); }), 0u);
  EXPECT_EQ(left([](const Tensor& x) { return logical_and(x, true); }, DType::Bool), 0u);
  EXPECT_EQ(left([](const Tensor& x) { return logical_or(x, false); }, DType::Bool), 0u);
}

// Replaces x by a literal and counts what is left besides that literal.
template <class F>
size_t left_of_literal(double value, F f) {
  auto         builder = Builder::open();
  const Tensor x       = builder->argument({DType::F32, {3}});
  const Tensor y       = select(Tensor(Type{DType::Bool, {3}}, 1), full({3}, value), x);
  return simplify(builder->finish({f(y)}).program).eqns.size() - 1;
}

TEST(SimplifyRules, LiteralsFold) {
  EXPECT_EQ(left_of_literal(0, [](const Tensor& x) { return sum(x); }), 0u);
  EXPECT_EQ(left_of_literal(2, [](const Tensor& x) { return max(x); }), 0u);
  EXPECT_EQ(left_of_literal(1, [](const Tensor& x) { return prod(x); }), 0u);
  EXPECT_EQ(left_of_literal(0, [](const Tensor& x) { return cumsum(x, 0); }), 0u);
  EXPECT_EQ(left_of_literal(2, [](const Tensor& x) { return exp(x) + 1; }), 0u);
  EXPECT_EQ(left_of_literal(2, [](const Tensor& x) { return cumsum(x, 0); }), 1u);  // control: not one value
}

// 0 · x is NaN for x = inf, and x / x is NaN for x = 0.
TEST(SimplifyRules, NanIsKept) {
  EXPECT_GT(left([](const Tensor& x) { return 0 * x; }), 1u);
  EXPECT_GT(left([](const Tensor& x) { return x - x; }), 0u);
  EXPECT_GT(left([](const Tensor& x) { return x / x; }), 0u);
}

}  // namespace
}  // namespace braintrace
