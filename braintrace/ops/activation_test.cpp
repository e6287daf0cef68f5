// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/activation.h"

#include "tests/support/values.h"

namespace braintrace {
namespace {

using namespace testing_support;

double expm1_of(double x) { return std::expm1(x); }
double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

TEST(Activation, Rectifiers) {
  const Tensor x = tensor({-2, 0, 3, nan});
  expect_values(relu(x), {0, 0, 3, nan});
  expect_values(relu(ints({-2, 3})), {0, 3});
  expect_values(leaky_relu(x, 0.1), {-0.2, 0, 3, nan});
  expect_values(relu6(tensor({-1, 3, 8})), {0, 3, 6});
}

TEST(Activation, ExponentialUnits) {
  const Tensor x = tensor({-2, 0, 3, 1000, -inf});
  expect_values(elu(x), {expm1_of(-2), 0, 3, 1000, -1});
  expect_values(elu(x, 0.5), {0.5 * expm1_of(-2), 0, 3, 1000, -0.5});
  expect_values(celu(x, 2), {2 * expm1_of(-1), 0, 3, 1000, -2});
  const double alpha = 1.6732632423543772, lambda = 1.0507009873554805;
  expect_values(selu(x), {lambda * alpha * expm1_of(-2), 0, 3 * lambda, 1000 * lambda, -lambda * alpha});
  expect_user_error([] { celu(tensor({1}), 0); }, {"celu", "alpha"});
}

TEST(Activation, Gelu) {
  expect_values(gelu(tensor({-1, 0, 2})), {-normal_cdf(-1), 0, 2 * normal_cdf(2)});
  EXPECT_NEAR(gelu(tensor({-10})).item() / (-10 * normal_cdf(-10)), 1, 1e-12);  // no cancellation in the tail
  const double pi = std::acos(-1.0);
  expect_values(gelu(tensor({2}), true), {1 + std::tanh(std::sqrt(2 / pi) * (2 + 0.044715 * 8))});
  // The tanh form is close to the exact one but not it.
  const double difference = gelu(tensor({2}), true).item() - gelu(tensor({2})).item();
  EXPECT_LT(std::abs(difference), 1e-3);
  EXPECT_GT(std::abs(difference), 1e-6);
}

TEST(Activation, Smooth) {
  expect_values(silu(tensor({0, std::log(3.0)})), {0, 0.75 * std::log(3.0)});
  expect_values(log_sigmoid(tensor({0, -1000, 1000})), {-std::log(2.0), -1000, 0});
}

TEST(Activation, Hard) {
  expect_values(hard_sigmoid(tensor({-4, 0, 1.5, 4})), {0, 0.5, 0.75, 1});
  expect_values(hard_silu(tensor({-4, 0, 1.5, 4})), {0, 0, 1.125, 4});
  expect_values(hard_tanh(tensor({-4, 0.5, 4, nan})), {-1, 0.5, 1, nan});
}

TEST(Activation, KeepsTheElementType) {
  for (DType t : {DType::F32, DType::F16, DType::BF16}) {
    EXPECT_EQ(gelu(tensor({1}, t)).dtype(), t);
    EXPECT_EQ(elu(tensor({-1}, t), 0.3).dtype(), t);
    EXPECT_EQ(hard_sigmoid(tensor({1}, t)).dtype(), t);
  }
}

}  // namespace
}  // namespace braintrace
