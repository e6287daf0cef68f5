// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/kappa_filter.h"

#include <gtest/gtest.h>

#include "braintrace/functions/functions.h"
#include "tests/support/error_of.h"
#include "tests/support/near.h"

namespace braintrace {

namespace {

TEST(KappaFilter, Averages) {
  KappaFilter filter(f64({1, 0}), 0.75);
  EXPECT_EQ(distance(filter(f64({5, 4})), {2, 1}), 0);
  EXPECT_EQ(distance(filter(f64({0, 0})), {1.5, 0.75}), 0);
  EXPECT_EQ(distance(filter.value(), {1.5, 0.75}), 0);
  reset_all_states(filter);
  EXPECT_EQ(distance(filter.value(), {1, 0}), 0);
}

TEST(KappaFilter, AConstantIsItsOwnAverage) {
  KappaFilter filter(f64({0}), 0.5);
  for (int t = 0; t < 60; ++t) filter(f64({3}));
  EXPECT_LT(distance(filter.value(), {3}), 1e-12);
  KappaFilter none(f64({0}), 0);
  EXPECT_EQ(distance(none(f64({3})), {3}), 0);
}

TEST(KappaFilter, RunsInsideJit) {
  KappaFilter filter(f64({0}), 0.5);
  auto        step = jit([&](Tensor x) { return filter(x); });
  step(f64({4}));
  EXPECT_EQ(distance(step(f64({4})), {3}), 0);
}

TEST(KappaFilter, RefusesWrongCalls) {
  EXPECT_NE(error_of([] { KappaFilter(f64({0}), 1); }).find("[0, 1), got 1"), std::string::npos);
  EXPECT_NE(error_of([] { KappaFilter(f64({0}), -0.5); }).find("got -0.5"), std::string::npos);
  EXPECT_NE(error_of([] { KappaFilter(Tensor(), 0.5); }).find("undefined"), std::string::npos);
  KappaFilter filter(f64({0}), 0.5);
  EXPECT_NE(error_of([&] { filter(f64({1, 2})); }).find("the average is f64[1], the input f64[2]"), std::string::npos);
}

}  // namespace

}  // namespace braintrace
