// SPDX-License-Identifier: Apache-2.0
// Bare C++ numbers: expressions of them are computed in double and take the type of the tensor they are combined with.
#include "braintrace/base/default_float.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/activation.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/random.h"
#include "tests/support/values.h"

namespace braintrace {
namespace {

using namespace testing_support;

// Sets the default float type in a scope.
struct DefaultFloat {
  explicit DefaultFloat(DType dtype) { set_thread_default_float(dtype); }
  ~DefaultFloat() { set_thread_default_float({}); }
};

const Tensor one = tensor({1}, DType::F64);

TEST(Numbers, ComputeInDoubleAndStayWeak) {
  EXPECT_EQ((one * (Tensor(.8) * Tensor(.3))).item(), .8 * .3);
  EXPECT_EQ((one * -Tensor(.8)).item(), -.8);
  EXPECT_EQ((one * exp(Tensor(.1))).item(), std::exp(.1));
  EXPECT_EQ((one * silu(Tensor(.1))).item(), .1 / (1 + std::exp(-.1)));  // a composite
  EXPECT_EQ((one * integer_pow(Tensor(.1), 2)).item(), .1 * .1);
  EXPECT_EQ((one * clamp(Tensor(.7), .1, .3)).item(), .3);
  EXPECT_EQ((one * stop_gradient(maximum(.1, .3))).item(), .3);
  EXPECT_TRUE((Tensor(.8) - Tensor(.3)).is_weak());
  for (DType t : {DType::F16, DType::BF16, DType::F32, DType::F64})
    EXPECT_EQ((tensor({1}, t) / (Tensor(1) - .1)).dtype(), t);
  EXPECT_TRUE(less(Tensor(.1), Tensor(.1) + 1e-12).item());
}

TEST(Numbers, AreSettledByAConversion) {
  EXPECT_EQ((one * convert(.1, DType::F32)).item(), static_cast<double>(.1f));
  EXPECT_FALSE(convert(.1, DType::F32).is_weak());
  EXPECT_EQ(convert(Tensor(2.7), DType::I32).item(), 2);
}

// A literal with an explicit type has been rounded to it.
TEST(Numbers, TypedLiteralsAreRounded) {
  EXPECT_EQ((one * full({1}, .1, DType::F32)).item(), static_cast<double>(.1f));
  EXPECT_EQ((one + full({}, .1, DType::F32)).item(), 1 + static_cast<double>(.1f));
}

TEST(Numbers, ChoiceAndJoiningKeepThem) {
  const Tensor ones = tensor({1, 1}, DType::F64), mask = bools({1, 0});
  expect_values(ones * select(mask, .8, .3), {.8, .3}, 0);
  expect_values(ones * (1 - select(mask, .8, .3)), {1 - .8, 1 - .3}, 0);
  expect_values(ones * stack({.8, .3}, 0), {.8, .3}, 0);
  expect_values(ones * concat({expand_dims(.8, 0), expand_dims(.3, 0)}, 0), {.8, .3}, 0);
  expect_values(reshape(ones, {2, 1}) * transpose(expand_dims(stack({.8, .3}, 0), 0)), {.8, .3}, 0);
  expect_values(ones * broadcast_to(.8, {2}), {.8, .8}, 0);
  expect_values(pad(one, .3, {0}, {1}), {1, .3}, 0);
  EXPECT_EQ(select(mask, .8, .3).dtype(), DType::F32);
  EXPECT_EQ((tensor({1, 1}, DType::BF16) * select(mask, .8, .3)).dtype(), DType::BF16);
  EXPECT_EQ((ints({1, 2}) + select(mask, 1, 0)).dtype(), DType::F32);
}

TEST(Numbers, InsideATrace) {
  const Traced t = trace({{DType::F64, {2}}}, [](const Tensors& in) -> Tensors {
    const Tensor factor = select(greater(in[0], 0), .8, .3);
    return {in[0] * factor, factor};
  });
  EXPECT_EQ(t.program.types_of(t.program.results), (Types{{DType::F64, {2}}, {DType::F32, {2}}}));
  expect_values(replay(t.program, t.constants, {tensor({1, -1})})[0], {.8, -.3}, 0);
}

TEST(Numbers, AsBoundsOfDraws) {
  const Tensor k    = random::key(3);
  const Tensor u    = random::uniform(k, {50}, 0, 1, DType::F64);
  const Values unit = values(u), drawn = values(random::uniform(k, {50}, .1, .8, DType::F64));
  for (size_t i = 0; i < unit.size(); ++i) EXPECT_EQ(drawn[i], .1 + (.8 - .1) * unit[i]);
}

// Draws with a bare probability are the same in every precision.
TEST(Numbers, AsProbabilities) {
  const Tensor k    = random::key(5);
  const Values want = values(random::bernoulli(k, tensor({.3}, DType::F32), {200}));
  for (DType t : {DType::F64, DType::BF16}) {
    const DefaultFloat scope(t);
    EXPECT_EQ(values(random::bernoulli(k, .3, {200})), want);
  }
}

TEST(Numbers, CreationFollowsTheDefaultFloatType) {
  const Tensor k = random::key(1);
  for (DType t : {DType::F16, DType::F32, DType::F64}) {
    const DefaultFloat scope(t);
    for (const Tensor& made : {zeros({2}), ones({2}), full({2}, .1), eye(2), linspace(0, 1, 3), arange(0, 1, .5),
                               one_hot(ints({1}), 2), random::uniform(k, {2}), random::normal(k, {2}),
                               random::truncated_normal(k, {2}, -1, 1), random::exponential(k, {2}),
                               random::gamma(k, 2, {2}), Tensor(.5), select(bools({1}), .1, .2), ints({1}) * .5})
      EXPECT_EQ(made.dtype(), t);
    EXPECT_EQ(zeros({2}, DType::F32).dtype(), DType::F32);
    EXPECT_EQ(arange(3).dtype(), DType::I32);
  }
}

}  // namespace
}  // namespace braintrace
