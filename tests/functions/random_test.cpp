// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/random.h"

#include "braintrace/model/random_stream.h"
#include "tests/functions/support.h"

namespace braintrace {
namespace {

using namespace testing_support;

TEST(RandomStream, SeedsRepeatAndDrawsDiffer) {
  random::seed(3);
  const Tensor a = random::normal(random::next(), {4}), b = random::normal(random::next(), {4});
  EXPECT_GT(max_difference(a, b), 0);
  random::seed(3);
  expect_close(random::normal(random::next(), {4}), a, 0);
  random::seed(4);
  EXPECT_GT(max_difference(random::normal(random::next(), {4}), a), 0);
}

TEST(RandomStream, RandnDrawsFromTheDefaultStreamInTheEnvironmentsPrecision) {
  random::seed(3);
  const Tensor a = random::randn(2, 3);
  EXPECT_EQ(a.type(), (Type{DType::F64, {2, 3}}));
  {
    const Environment::Scope single({.precision = DType::F32});
    EXPECT_EQ(random::randn({2, 3}).type(), (Type{DType::F32, {2, 3}}));
  }
  random::seed(3);
  expect_close(random::normal(random::next(), {2, 3}), a, 0);
}

TEST(RandomStream, MovesOnInsideJitAndLoops) {
  RandomStream stream(7), twin(7);
  auto         draw = jit([&] { return random::uniform(stream.next(), {2}); });
  for (int i = 0; i < 3; ++i) expect_close(draw(), random::uniform(twin.next(), {2}), 0);
  EXPECT_EQ(draw.num_traces(), 1);
  const Tensor rows = for_loop([&](const Tensor& x) { return x + random::uniform(stream.next(), {2}); }, zeros({3, 2}));
  for (int i = 0; i < 3; ++i) expect_close(row_of(rows, i), random::uniform(twin.next(), {2}), 0);
}

TEST(RandomStream, SamplesOfVmapDrawTheirOwn) {
  RandomStream stream(7);
  const Tensor before = stream.value();
  auto         noisy  = vmap([&](const Tensor& x) { return x + random::uniform(stream.next(), {}); });
  const Tensor a = noisy(zeros({4})), b = noisy(zeros({4}));
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < i; ++j) EXPECT_NE(at(a.array(), i), at(a.array(), j));
  EXPECT_GT(max_difference(a, b), 0);
  EXPECT_EQ(stream.value().type(), before.type());
  // Two draws inside one sample differ as well.
  const auto [p, q] = vmap([&](const Tensor& x) {
    const Tensor first = x + random::uniform(stream.next(), {});
    return std::pair(first, x + random::uniform(stream.next(), {}));
  })(zeros({4}));
  EXPECT_GT(max_difference(p, q), 0);
}

TEST(RandomStream, InsideGrad) {
  RandomStream stream(7), twin(7);
  ParamState   w(tensor({2.0}));
  const auto   g = grad([&](const Tensor& x) { return sum(w.value() * x * random::uniform(stream.next(), {1})); },
                      StateMap{{Path{"w"}, w}})(tensor({1.0}));
  expect_close(g["w"], random::uniform(twin.next(), {1}), 0);
  expect_close(stream.value(), twin.value(), 0);
}

}  // namespace
}  // namespace braintrace
