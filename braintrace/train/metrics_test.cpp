// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/metrics.h"

#include <gtest/gtest.h>

namespace braintrace::train {
namespace {

// 8 of class 0, of which 6 are found; 2 of class 1, of which 1 is found; class 2 is never asked for and answered once;
// class 3 never occurs.
TEST(Metrics, FollowFromTheConfusionMatrix) {
  const ClassMetrics m =
      class_metrics(Array::of<int64_t>({6, 1, 1, 0, /**/ 1, 1, 0, 0, /**/ 0, 0, 0, 0, /**/ 0, 0, 0, 0}, {4, 4}));
  EXPECT_EQ(m.asked, (std::vector<int64_t>{8, 2, 0, 0}));
  EXPECT_EQ(m.recall, (std::vector<double>{0.75, 0.5, 0, 0}));
  EXPECT_EQ(m.precision, (std::vector<double>{6. / 7, 0.5, 0, 0}));
  EXPECT_EQ(m.f1, (std::vector<double>{12. / 15, 0.5, 0, 0}));
  EXPECT_DOUBLE_EQ(m.balanced_accuracy, 0.625);
  EXPECT_DOUBLE_EQ(m.macro_f1, 1.3 / 3);
  EXPECT_DOUBLE_EQ(m.majority, 0.8);
}

// Who always answers the most common class is right as often as it occurs, and no better than chance.
TEST(Metrics, AConstantAnswerIsNoBetterThanChance) {
  const ClassMetrics m = class_metrics(Array::of<int64_t>({95, 0, 5, 0}, {2, 2}));
  EXPECT_DOUBLE_EQ(m.majority, 0.95);
  EXPECT_DOUBLE_EQ(m.balanced_accuracy, 0.5);
}

TEST(Metrics, NothingAskedIsNoDivisionByZero) {
  const ClassMetrics m = class_metrics(Array::of<int64_t>({0, 0, 0, 0}, {2, 2}));
  EXPECT_EQ(m.balanced_accuracy + m.macro_f1 + m.majority, 0);
}

}  // namespace
}  // namespace braintrace::train
