// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/loss.h"

#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/ops/math.h"
#include "tests/support/error_of.h"
#include "tests/support/near.h"

namespace braintrace {

namespace {

Tensor labels(const std::vector<int32_t>& v) { return Tensor(Array::of<int32_t>(v, {static_cast<int64_t>(v.size())})); }

TEST(Losses, CrossEntropyOfIntegerAndSoftLabels) {
  const Tensor z   = f64({1, 2, 0.5, -1, 0, 3}, {2, 3});
  const auto   row = [](double a, double b, double c, double y) {
    return std::log(std::exp(a) + std::exp(b) + std::exp(c)) - y;
  };
  const std::vector<double> want{row(1, 2, 0.5, 2), row(-1, 0, 3, -1)};
  EXPECT_LT(distance(losses::softmax_cross_entropy_with_integer_labels(z, labels({1, 0})), want), 1e-14);
  EXPECT_LT(distance(losses::softmax_cross_entropy(z, f64({0, 1, 0, 1, 0, 0}, {2, 3})), want), 1e-14);
  EXPECT_LT(distance(losses::nll_loss(log(f64({0.25, 0.75}, {1, 2})), labels({1})), {-std::log(0.75)}), 1e-15);
}

TEST(Losses, CrossEntropyIsStableAtLargeLogits) {
  const Tensor z = f64({1000, 0, -1000, 1000}, {2, 2});
  EXPECT_LT(distance(losses::softmax_cross_entropy_with_integer_labels(z, labels({0, 0})), {0, 2000}), 1e-9);
  EXPECT_LT(distance(losses::sigmoid_binary_cross_entropy(f64({1000, -1000}), f64({0, 1})), {1000, 1000}), 1e-9);
}

TEST(Losses, RegressionLosses) {
  const Tensor p = f64({1, 2, 5}), t = f64({0.5, 2, 1});
  EXPECT_LT(distance(losses::squared_error(p, t), {0.25, 0, 16}), 1e-15);
  EXPECT_LT(distance(losses::l2_loss(p, t), {0.125, 0, 8}), 1e-15);
  EXPECT_LT(distance(losses::mse(p, t), {16.25 / 3}), 1e-14);
  EXPECT_LT(distance(losses::mae(p, t), {1.5}), 1e-15);
  EXPECT_LT(distance(losses::huber_loss(p, t), {0.125, 0, 3.5}), 1e-15);
  EXPECT_LT(distance(losses::huber_loss(p, t, 2), {0.125, 0, 6}), 1e-15);
  EXPECT_LT(distance(losses::log_cosh(p, t), {std::log(std::cosh(0.5)), 0, std::log(std::cosh(4.0))}), 1e-14);
  EXPECT_LT(distance(losses::log_cosh(f64({800, -800}), f64({0, 0})), {800 - std::log(2), 800 - std::log(2)}), 1e-9);
  EXPECT_LT(distance(losses::cosine_similarity(f64({3, 4}), f64({4, 3})), {24.0 / 25}), 1e-15);
}

TEST(Losses, Others) {
  EXPECT_LT(distance(losses::hinge_loss(f64({0.5, 2, -1}), f64({1, 1, -1})), {0.5, 0, 0}), 1e-15);
  EXPECT_LT(distance(losses::kl_divergence(log(f64({0.5, 0.5}, {1, 2})), f64({1, 0}, {1, 2})), {std::log(2)}), 1e-15);
  EXPECT_LT(distance(losses::masked_mean(f64({1, 2, 30}), f64({1, 1, 0})), {1.5}), 1e-15);
  EXPECT_LT(distance(losses::l1({f64({1, -2}), f64({-3})}), {6}), 1e-15);
  EXPECT_LT(distance(losses::l2({f64({1, -2}), f64({-3})}), {14}), 1e-15);
  EXPECT_LT(distance(losses::voltage_regularizer({f64({2, 0, -3})}, -1, 1, 2), {2 * std::pow(5.0 / 3, 2)}), 1e-14);
  EXPECT_LT(distance(losses::rate_regularizer({f64({1, 0, 0, 0})}, 100, 1), {0.15 * 0.15}), 1e-15);
}

TEST(Losses, RefuseWhatCannotBeMeant) {
  const Tensor z = f64({1, 2, 3, 4}, {2, 2});
  EXPECT_NE(error_of([&] {
              losses::softmax_cross_entropy_with_integer_labels(z, labels({0, 2}));
            }).find("label 2"),
            std::string::npos);
  EXPECT_NE(error_of([&] { losses::softmax_cross_entropy_with_integer_labels(z, f64({0, 1})); }), "");
  EXPECT_NE(error_of([&] { losses::mse(f64({1, 2}), f64({1})); }), "");
  EXPECT_NE(error_of([&] { losses::huber_loss(z, z, 0); }), "");
}

TEST(Metrics, AccuracyConfusionAndR2) {
  const Tensor s = f64({0.1, 0.9, 0.8, 0.2, 0.3, 0.7}, {3, 2});
  EXPECT_NEAR(metrics::accuracy(s, labels({1, 0, 0})).item(), 2.0 / 3, 1e-6);
  EXPECT_LT(distance(metrics::confusion_matrix(s, labels({1, 0, 0}), 2), {1, 1, 0, 1}), 1e-6);
  EXPECT_LT(distance(metrics::r2_score(f64({1, 2, 3}), f64({1, 2, 3})), {1}), 1e-15);
  const Tensor over_time = f64({0, 1, 3, 0}, {2, 1, 2});
  EXPECT_EQ(metrics::accuracy_over_time(over_time, labels({0})).item(), 1);
}

}  // namespace

}  // namespace braintrace
