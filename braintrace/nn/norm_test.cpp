// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/norm.h"

#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/model/environment.h"
#include "braintrace/ops/math.h"
#include "tests/support/error_of.h"
#include "tests/support/near.h"

namespace braintrace::nn {

namespace {

const Environment::Settings doubles{.precision = DType::F64};

TEST(Norms, LayerAndRMSAndGroup) {
  Environment::Scope scope(doubles);
  const double       s = std::sqrt(2.0 / 3 + 1e-6);
  EXPECT_LT(distance(LayerNorm(3)(f64({1, 2, 3})), {-1 / s, 0, 1 / s}), 1e-12);
  EXPECT_LT(distance(LayerNorm(3, {.use_fast_variance = false})(f64({1, 2, 3})), {-1 / s, 0, 1 / s}), 1e-12);
  const double r = std::sqrt(14.0 / 3 + 1e-6);
  EXPECT_LT(distance(RMSNorm(3)(f64({1, 2, 3})), {1 / r, 2 / r, 3 / r}), 1e-12);
  const double g = std::sqrt(0.25 + 1e-6);
  EXPECT_LT(distance(GroupNorm(4, 2)(f64({1, 2, 5, 6}, {1, 4})), {-0.5 / g, 0.5 / g, -0.5 / g, 0.5 / g}), 1e-12);
  // Channels 0 and 1 of two positions are 1, 2, 3, 6: mean 3, variance 3.5.
  const double h = std::sqrt(3.5 + 1e-6);
  for (const bool fast : {true, false})
    EXPECT_LT(distance(GroupNorm(4, 2, {.use_fast_variance = fast})(f64({1, 2, 5, 5, 3, 6, 5, 5}, {1, 2, 4})),
                       {-2 / h, -1 / h, 0, 0, 0, 3 / h, 0, 0}),
              1e-12);
  EXPECT_NE(error_of([] { GroupNorm(5, 2); }), "");
  EXPECT_NE(error_of([] { LayerNorm(3)(f64({1, 2})); }), "");
  EXPECT_NE(error_of([] { RMSNorm(-1); }).find("must not be negative"), std::string::npos);
  EXPECT_NE(error_of([] { RMSNorm(0); }).find("RMSNorm: the number of features must be positive"), std::string::npos);
  EXPECT_NE(error_of([] { BatchNorm1d(-1); }).find("must not be negative"), std::string::npos);
}

TEST(Norms, BatchNormLearnsItsStatisticsWhileTraining) {
  Environment::Scope scope(doubles);
  BatchNorm0d        norm(1);
  const Tensor       x = f64({1, 3}, {2, 1});
  const double       s = std::sqrt(1 + 1e-5);
  EXPECT_LT(distance(norm(x), {-1 / s, 1 / s}), 1e-12);
  EXPECT_LT(distance(norm.running_mean.value(), {0.02}), 1e-12);
  EXPECT_LT(distance(norm.running_var.value(), {0.99 + 0.01}), 1e-12);
  Environment::Scope testing({.training = false});
  EXPECT_LT(distance(norm(x), {0.98 / s, 2.98 / s}), 1e-12);
  EXPECT_LT(distance(norm.running_mean.value(), {0.02}), 1e-12);  // not moved
}

TEST(Norms, BatchNorm1dTakesABatchOfVectors) {
  Environment::Scope scope(doubles);
  BatchNorm1d        norm(2);
  const Tensor       y = norm(f64({1, 2, 3, 6}, {2, 2}));
  EXPECT_EQ(y.shape(), (Shape{2, 2}));
  const double s = std::sqrt(1 + 1e-5), r = std::sqrt(4 + 1e-5);
  EXPECT_LT(distance(y, {-1 / s, -2 / r, 1 / s, 2 / r}), 1e-12);
  EXPECT_EQ(norm(f64({1, 2, 3, 6}, {1, 2, 2})).shape(), (Shape{1, 2, 2}));
  EXPECT_NE(error_of([&] { norm(f64({1, 2})); }).find("BatchNorm1d"), std::string::npos);
}

}  // namespace

}  // namespace braintrace::nn
