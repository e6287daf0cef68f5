// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/named_layers.h"

#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/model/environment.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "tests/support/error_of.h"
#include "tests/support/near.h"

namespace braintrace::nn {

namespace {

std::vector<double> values_of(const Tensor& x) {
  std::vector<double> out;
  for (int64_t i = 0; i < x.size(); ++i) out.push_back(at(x.array(), i));
  return out;
}

TEST(NamedLayers, ActivationsFollowTheirFormulas) {
  const Tensor x      = f64({-2, -0.25, 0, 0.75, 7});
  const auto   expect = [&](Module&& layer, const std::function<double(double)>& f) {
    std::vector<double> wanted;
    for (double v : {-2.0, -0.25, 0.0, 0.75, 7.0}) wanted.push_back(f(v));
    EXPECT_LT(distance(layer(x), wanted), 1e-12);
  };
  const auto exp      = [](double v) { return std::exp(v); };
  const auto sigmoid  = [](double v) { return 1 / (1 + std::exp(-v)); };
  const auto softplus = [](double v) { return std::log1p(std::exp(v)); };
  expect(ReLU(), [](double v) { return std::max(v, 0.0); });
  expect(ReLU6(), [](double v) { return std::clamp(v, 0.0, 6.0); });
  expect(Hardtanh(-0.5, 2), [](double v) { return std::clamp(v, -0.5, 2.0); });
  expect(Sigmoid(), sigmoid);
  expect(Hardsigmoid(), [](double v) { return std::clamp(v / 6 + 0.5, 0.0, 1.0); });
  expect(Tanh(), [](double v) { return std::tanh(v); });
  expect(SiLU(), [&](double v) { return v * sigmoid(v); });
  expect(Mish(), [&](double v) { return v * std::tanh(softplus(v)); });
  expect(Hardswish(), [](double v) { return v * std::clamp(v / 6 + 0.5, 0.0, 1.0); });
  expect(ELU(2), [&](double v) { return v > 0 ? v : 2 * (exp(v) - 1); });
  expect(CELU(2), [&](double v) { return v > 0 ? v : 2 * (exp(v / 2) - 1); });
  expect(SELU(), [&](double v) { return 1.0507009873554805 * (v > 0 ? v : 1.6732632423543772 * (exp(v) - 1)); });
  expect(GELU(), [](double v) { return v / 2 * (1 + std::erf(v / std::sqrt(2.0))); });
  expect(Hardshrink(), [](double v) { return std::abs(v) > 0.5 ? v : 0; });
  expect(LeakyReLU(), [](double v) { return v > 0 ? v : 0.01 * v; });
  expect(LogSigmoid(), [&](double v) { return -softplus(-v); });
  expect(Softplus(2), [&](double v) { return softplus(2 * v) / 2; });
  expect(Softshrink(), [](double v) { return v - std::clamp(v, -0.5, 0.5); });
  expect(Softsign(), [](double v) { return v / (1 + std::abs(v)); });
  expect(Tanhshrink(), [](double v) { return v - std::tanh(v); });
  expect(Identity(), [](double v) { return v; });
}

TEST(NamedLayers, SoftmaxAlongAnAxis) {
  const Tensor x = f64({0, std::log(3.0), 0, std::log(3.0)}, {2, 1, 2});
  EXPECT_LT(distance(Softmax()(x), {0.25, 0.75, 0.25, 0.75}), 1e-15);
  EXPECT_LT(distance(Softmin()(x), {0.75, 0.25, 0.75, 0.25}), 1e-15);
  EXPECT_LT(distance(LogSoftmax()(x), {std::log(0.25), std::log(0.75), std::log(0.25), std::log(0.75)}), 1e-15);
  EXPECT_LT(distance(Softmax2d()(x), {0.5, 0.5, 0.5, 0.5}), 1e-15);
}

TEST(NamedLayers, RandomSlopesOnlyWhileTraining) {
  const Tensor x = full({2000}, -1, DType::F64);
  {
    Environment::Scope scope({.training = false});
    EXPECT_LT(distance(RReLU()(f64({-1, 2})), {-11.0 / 48, 2}), 1e-15);
  }
  double lo = 1, hi = 0, mean = 0;
  for (double v : values_of(RReLU()(x))) {
    lo = std::min(lo, -v);
    hi = std::max(hi, -v);
    mean -= v / 2000;
  }
  EXPECT_GE(lo, 1.0 / 8);
  EXPECT_LE(hi, 1.0 / 3);
  EXPECT_GT(hi - lo, 0.2);
  EXPECT_NEAR(mean, 11.0 / 48, 0.01);
}

TEST(NamedLayers, PoolingAndDropoutPerNumberOfAxes) {
  const Tensor x = f64({1, 2, 3, 4}, {4, 1});
  EXPECT_LT(distance(MaxPool1d(2)(x), {2, 4}), 1e-15);
  EXPECT_LT(distance(AvgPool1d(2, {1})(x), {1.5, 2.5, 3.5}), 1e-15);
  EXPECT_LT(distance(AdaptiveMaxPool1d(2)(x), {2, 4}), 1e-15);
  EXPECT_LT(distance(AdaptiveAvgPool1d(1)(x), {2.5}), 1e-15);
  EXPECT_EQ(MaxPool2d(2)(zeros({5, 4, 6, 3})).shape(), (Shape{5, 2, 3, 3}));
  EXPECT_EQ(MaxPool2d(2, {1})(zeros({5, 4, 6, 3})).shape(), (Shape{5, 3, 5, 3}));
  EXPECT_EQ(MaxPool2d(2).type_name(), "MaxPool2d");
  EXPECT_EQ(AvgPool3d(2)(zeros({4, 4, 6, 3})).shape(), (Shape{2, 2, 3, 3}));
  EXPECT_EQ(AdaptiveAvgPool2d(2)(zeros({4, 6, 3})).shape(), (Shape{2, 2, 3}));
  EXPECT_NE(error_of([] { MaxPool2d({2, 2, 2}); }).find("kernel_size"), std::string::npos);
  // channels are kept or dropped as a whole
  const std::vector<double> y = values_of(Dropout2d(0.5)(full({3, 3, 8}, 1, DType::F64)));
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], y[i % 8]);
}

TEST(NamedLayers, SpikesCombineAsBits) {
  const Tensor x = f64({0, 0, 1, 1}), y = f64({0, 1, 0, 1});
  EXPECT_EQ(distance(SpikeBitwise("add")(x, y), {0, 1, 1, 2}), 0);
  EXPECT_EQ(distance(SpikeBitwise("and")(x, y), {0, 0, 0, 1}), 0);
  EXPECT_EQ(distance(SpikeBitwise("or")(x, y), {0, 1, 1, 1}), 0);
  EXPECT_EQ(distance(SpikeBitwise("xor")(x, y), {0, 1, 1, 0}), 0);
  EXPECT_EQ(distance(SpikeBitwise("iand")(x, y), {0, 1, 0, 0}), 0);
  EXPECT_EQ(distance(SpikeBitwise("ixor")(x, y), {0, 0, 1, 0}), 0);
  EXPECT_EQ(distance(SpikeBitwise("not").update(x), {1, 1, 0, 0}), 0);
  EXPECT_NE(error_of([] { SpikeBitwise("nor"); }).find("xor"), std::string::npos);
  EXPECT_NE(error_of([&] { SpikeBitwise("and").update(x); }).find("both"), std::string::npos);
}

}  // namespace

}  // namespace braintrace::nn
