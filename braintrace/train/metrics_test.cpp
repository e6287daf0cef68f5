// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/metrics.h"

#include <cmath>

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

// Answers 1, 2, 4 to targets 1, 2, 3 of one output; the other output is always right and has a mean of its own.
TEST(Metrics, ValuesAreComparedWithTheMeanOfTheirOutput) {
  ValueErrors e(2);
  for (double y : {1.0, 2.0, 3.0}) {
    e.add(0, y, y == 3 ? 4 : y, 1);
    e.add(1, 100 + y, 100 + y, 1);
  }
  e.add(0, 1e6, 0, 0);  // not asked
  const ValueMetrics m = e.metrics();
  EXPECT_DOUBLE_EQ(m.rmse, std::sqrt(1. / 6));
  EXPECT_DOUBLE_EQ(m.mae, 1. / 6);
  EXPECT_DOUBLE_EQ(m.r2, 1 - 1. / 4);
}

// What was seen in parts, as shards do, is what was seen at once.
TEST(Metrics, PartsAddUp) {
  ValueErrors whole(2), first(2), second(2);
  Calibration all, some, others;
  for (int i = 0; i < 20; ++i) {
    ValueErrors& part = i < 7 ? first : second;
    for (ValueErrors* e : {&whole, &part}) e->add(static_cast<size_t>(i % 2), 1000 + i * i, 990 + 20 * i, 1 + i % 3);
    for (Calibration* c : {&all, i < 7 ? &some : &others}) c->add(i / 20.0, i % 4 != 0, 1);
  }
  const std::vector<double> more = second.packed(), rest = others.packed();
  EXPECT_EQ(first.add(more.begin()), more.end());
  EXPECT_EQ(some.add(rest.begin()), rest.end());
  EXPECT_NEAR(first.metrics().r2, whole.metrics().r2, 1e-12);
  EXPECT_NEAR(first.metrics().rmse, whole.metrics().rmse, 1e-12);
  EXPECT_NEAR(some.error(), all.error(), 1e-12);
}

TEST(Metrics, TargetsThatNeverVaryHaveNoShareToExplain) {
  ValueErrors e(1);
  e.add(0, 2, 2.5, 1);
  e.add(0, 2, 1.5, 1);
  EXPECT_TRUE(std::isnan(e.metrics().r2));
  EXPECT_DOUBLE_EQ(e.metrics().rmse, 0.5);
}

// Nine of ten answers given with p = 0.9 are right: calibrated. All given with p = 1 and half of them wrong: not.
TEST(Metrics, CalibrationComparesProbabilitiesWithOutcomes) {
  Calibration honest, proud;
  for (int i = 0; i < 10; ++i) {
    honest.add(0.9, i > 0, 1);
    proud.add(1, i < 5, 1);
  }
  EXPECT_NEAR(honest.error(), 0, 1e-12);
  EXPECT_DOUBLE_EQ(proud.error(), 0.5);
  EXPECT_EQ(Calibration().error(), 0);
}

}  // namespace
}  // namespace braintrace::train
