// SPDX-License-Identifier: Apache-2.0
#include "braintrace/stream/running_scale.h"

#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "tests/support/error_of.h"

namespace braintrace::stream {
namespace {

TEST(RunningScale, FollowsMeanAndDeviationAndForgets) {
  const RunningScale scale({DType::F32, {2}}, {.horizon = 40});
  Rng                rng(3);
  double             sum = 0, squares = 0;
  for (int i = 0; i < 1200; ++i) {
    const double shift = i < 500 ? 100 : -50;  // the sensor is replaced
    const Tensor y     = scale(Tensor(Array::of<float>({static_cast<float>(shift + 3 * rng.normal()), 7}, {2})));
    EXPECT_NEAR(at(y.array(), 1), 0, 1e-3) << "an input that never changes";
    if (i < 1000) continue;
    sum += at(y.array(), 0);
    squares += at(y.array(), 0) * at(y.array(), 0);
  }
  EXPECT_NEAR(sum / 200, 0, 0.2);
  EXPECT_NEAR(squares / 200, 1, 0.3);
  EXPECT_EQ(scale.states().size(), 3u);
}

TEST(RunningScale, FixedNumbersRememberNothing) {
  const Tensor       shift(Array::of<double>({1, 2}, {2})), by(Array::of<double>({2, 4}, {2}));
  const RunningScale scale({DType::F32, {2}}, {.shift = shift, .scale = by});
  const Tensor       y = scale(Tensor(Array::of<float>({5, 0}, {2})));
  EXPECT_EQ(at(y.array(), 0), 2);
  EXPECT_EQ(at(y.array(), 1), -0.5);
  EXPECT_TRUE(scale.states().empty());
  const std::string message = error_of([&] { RunningScale({DType::F32, {3}}, {.shift = shift, .scale = by}); });
  EXPECT_NE(message.find("the model takes 3 numbers, there are 2"), message.npos) << message;
}

}  // namespace
}  // namespace braintrace::stream
