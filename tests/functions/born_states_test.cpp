// SPDX-License-Identifier: Apache-2.0
// States created inside a traced function: variables of that function, created at every call.
#include "tests/functions/support.h"

namespace braintrace {
namespace {

using namespace testing_support;

// Its own model: starts at zero and adds its input.
struct Adder : Module {
  HiddenState h;
  Adder() : h(state("h", HiddenState(zeros({2}, DType::F64)))) {}
  Tensor update(const Tensor& x) override {
    h.set(h.value() + x);
    return h.value();
  }
};

Tensor sum_of_two_steps(const Tensor& x) {
  Adder made_here;
  made_here(x);
  return made_here(x);
}

const Tensor one = tensor({1.0, 1.0});

TEST(BornStates, StartAnewAtEachCallOfAJittedFunction) {
  const auto f = jit(sum_of_two_steps);
  for (int call = 0; call < 3; ++call) expect_close(f(one), tensor({2.0, 2.0}), 0);
  EXPECT_EQ(f.num_traces(), 1);
  expect_close(sum_of_two_steps(one), tensor({2.0, 2.0}), 0);
}

TEST(BornStates, WithInitializersAndTracedFirstValues) {
  const auto f = jit([](const Tensor& x) {
    HiddenState from_argument(2.0 * x), by_init([](BatchSize) { return Leaves{{"", ones({2}, DType::F64)}}; });
    by_init.init({});
    by_init.set(by_init.value() + from_argument.value());
    from_argument.set(x);
    from_argument.reset();
    return by_init.value() + from_argument.value();
  });
  for (int call = 0; call < 2; ++call) expect_close(f(one), tensor({5.0, 5.0}), 0);
}

TEST(BornStates, AreCarriedByLoopsAndBranchesInside) {
  const auto f = jit([](const Tensor& xs) {
    Adder sum;
    for_loop([&](const Tensor& x) { return sum(x); }, xs);
    cond(
        greater(braintrace::sum(xs), 0.0), [&](Tensor x) { return sum(x); }, [&](Tensor x) { return x; }, xs[0]);
    return sum.h.value();
  });
  for (int call = 0; call < 2; ++call) expect_close(f(ones({3, 2}, DType::F64)), tensor({4.0, 4.0}), 0);
}

TEST(BornStates, StartAnewInEachTurnOfALoop) {
  const Tensor rows = for_loop(sum_of_two_steps, ones({3, 2}, DType::F64));
  for (int t = 0; t < 3; ++t) expect_close(rows[t], tensor({2.0, 2.0}), 0);
}

TEST(BornStates, HaveDerivativesAndLanes) {
  const auto slope = grad([](const Tensor& x) { return sum(square(sum_of_two_steps(x))); });
  for (int call = 0; call < 2; ++call) expect_close(slope(one), tensor({8.0, 8.0}), 1e-15);
  const auto lanes = vmap(sum_of_two_steps);
  for (int call = 0; call < 2; ++call)
    expect_close(lanes(tensor({1.0, 2.0, 3.0, 4.0}, {2, 2})), tensor({2.0, 4.0, 6.0, 8.0}, {2, 2}), 0);
}

TEST(BornStates, EndWithTheFunction) {
  std::optional<Adder> kept;
  const auto           f = jit([&](const Tensor& x) {
    if (!kept) kept.emplace();
    return (*kept)(x);
  });
  expect_close(f(one), one, 0);
  expect_close(f(one), one, 0);  // the program was traced with the state inside
  const std::string read = error_of([&] { kept->h.value(); });
  EXPECT_NE(read.find("state 'h' (HiddenState) was created inside a traced function"), std::string::npos) << read;
  EXPECT_NE(error_of([&] { kept->h.set(one); }).find("no longer exists"), std::string::npos);
  EXPECT_NE(error_of([&] { f(tensor({1.0f, 1.0f})); }).find("no longer exists"), std::string::npos);
}

}  // namespace
}  // namespace braintrace
