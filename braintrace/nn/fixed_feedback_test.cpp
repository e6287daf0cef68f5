// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/fixed_feedback.h"

#include <gtest/gtest.h>

#include "tests/support/error_of.h"
#include "tests/support/near.h"

namespace braintrace {

namespace {

std::vector<double> elements(const Tensor& t) {
  std::vector<double> out;
  for (int64_t i = 0; i < t.size(); ++i) out.push_back(at(t.array(), i));
  return out;
}

TEST(FixedRandomFeedback, MultipliesByItsMatrix) {
  const FixedRandomFeedback feedback(2, 3, 7, 0.1, DType::F64);
  const auto                B = elements(feedback.matrix());
  EXPECT_EQ(feedback.matrix().shape(), (Shape{2, 3}));
  std::vector<double> want;
  for (size_t k = 0; k < 3; ++k) want.push_back(2 * B[k] - 3 * B[3 + k]);
  const Tensor projected = feedback.project(f64({2, -3}));
  EXPECT_LT(distance(projected, want), 1e-15);
  EXPECT_GT(distance(projected, {0, 0, 0}), 1e-3);
  EXPECT_EQ(feedback.project(f64({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2})).shape(), (Shape{2, 2, 3}));
}

TEST(FixedRandomFeedback, FollowsItsKeyAndScale) {
  const Tensor a = FixedRandomFeedback(40, 50, 1, 0.1, DType::F64).matrix();
  EXPECT_EQ(distance(FixedRandomFeedback(40, 50, 1, 0.1, DType::F64).matrix(), elements(a)), 0);
  EXPECT_GT(distance(FixedRandomFeedback(40, 50, 2, 0.1, DType::F64).matrix(), elements(a)), 0.01);
  double variance = 0;
  for (double b : elements(a)) variance += b * b / 2000;
  EXPECT_NEAR(variance, 0.01, 0.001);  // the mean of 2000 squares is within 3 standard deviations
}

TEST(FixedRandomFeedback, RefusesWrongSizes) {
  EXPECT_NE(error_of([] { FixedRandomFeedback(0, 3, 1); }).find("positive, got 0 and 3"), std::string::npos);
  const FixedRandomFeedback feedback(2, 3, 7);
  EXPECT_NE(error_of([&] { feedback.project(f64({1, 2, 3})); }).find("must be 2, got f64[3]"), std::string::npos);
  EXPECT_NE(error_of([&] { feedback.project(Tensor(1.0)); }).find("must be 2"), std::string::npos);
}

}  // namespace

}  // namespace braintrace
