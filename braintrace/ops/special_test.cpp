// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/special.h"

#include <algorithm>

#include "tests/support/values.h"

namespace braintrace {
namespace {

using namespace testing_support;

constexpr double pi = 3.141592653589793, euler = 0.5772156649015329, zeta3 = 1.2020569031595942;

TEST(Special, ErrorFunctions) {
  expect_values(erf(tensor({0, 1, -1, inf})), {0, 0.8427007929497149, -0.8427007929497149, 1});
  expect_values(erfc(tensor({0, 1, -inf})), {1, 0.15729920705028513, 2});
  EXPECT_NEAR(erfc(tensor({10})).item() / 2.088487583762545e-45, 1, 1e-12);
}

TEST(Special, ErfInvInvertsErfEverywhere) {
  Values x;
  for (double v = -0.999; v < 1; v += 0.0011) x.push_back(v);
  expect_values(erf(erf_inv(tensor(x))), x, 4e-16);
  expect_values(erf_inv(erf(tensor({1e-10, 0.3, -2.5, 3}))), {1e-10, 0.3, -2.5, 3}, 1e-11);
  // Far in the tail, where 1 - x is exact: erfc(erf_inv(1 - q)) = q.
  for (double q : {0x1p-20, 0x1p-40, 0x1p-50}) EXPECT_NEAR(erfc(erf_inv(tensor({1 - q}))).item() / q, 1, 1e-12);
  expect_values(erf_inv(tensor({0, 1, -1, 1.5, nan})), {0, inf, -inf, nan, nan});
}

TEST(Special, GammaFunctions) {
  expect_values(lgamma(tensor({1, 2, 5, 0.5, 0})), {0, 0, std::log(24.0), std::log(std::sqrt(pi)), inf});
  expect_values(digamma(tensor({1, 2, 0.5, 10, -0.5, -1})),
                {-euler, 1 - euler, -euler - 2 * std::log(2.0), 2.2517525890667211, 0.03648997397857652, nan}, 1e-13);
  expect_values(polygamma(1, tensor({1, 0.5, 2, -0.5, 0})),
                {pi * pi / 6, pi * pi / 2, pi * pi / 6 - 1, pi * pi / 2 + 4, inf}, 1e-13);
  expect_values(polygamma(2, tensor({1, 0.5})), {-2 * zeta3, -14 * zeta3}, 1e-13);
  expect_values(polygamma(3, tensor({1, -1})), {std::pow(pi, 4) / 15, inf}, 1e-13);
  expect_values(polygamma(0, tensor({1e10, inf, -inf})), {23.025850929890457, inf, nan}, 1e-13);
  expect_user_error([] { polygamma(-1, tensor({1})); }, {"polygamma", "-1"});
}

// ψ_n(x+1) - ψ_n(x) = (-1)ⁿ n! x^(-n-1), across the recurrence, the series and the reflection.
TEST(Special, PolygammaRecurrence) {
  double factorial = 1;
  for (int64_t n = 0; n <= 6; factorial *= static_cast<double>(++n))
    for (double x : {-3.3, -0.7, 0.2, 1.5, 8.0, 15.9, 21.5, 40.0}) {
      const double step     = polygamma(n, tensor({x + 1})).item() - polygamma(n, tensor({x})).item();
      const double expected = (n % 2 ? -1 : 1) * factorial * std::pow(x, static_cast<double>(-n - 1));
      EXPECT_NEAR(step, expected, 1e-11 * std::max(1.0, std::abs(polygamma(n, tensor({x})).item()))) << n << " " << x;
    }
}

TEST(Special, Logistic) {
  expect_values(sigmoid(tensor({0, std::log(3.0), -std::log(3.0), 1000, -1000})), {0.5, 0.75, 0.25, 1, 0});
  EXPECT_GT(sigmoid(tensor({-700})).item(), 0);  // 1/(1 + e^700) is not lost
  expect_values(logit(tensor({0.5, 0.75, 0, 1, 2})), {0, std::log(3.0), -inf, inf, nan});
  expect_values(softplus(tensor({0, 1000, -1000, inf, -inf, nan})), {std::log(2.0), 1000, 0, inf, 0, nan});
  EXPECT_NEAR(softplus(tensor({-50})).item() / std::exp(-50), 1, 1e-12);
}

}  // namespace
}  // namespace braintrace
