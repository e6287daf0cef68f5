// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/elementary.h"

#include "tests/support/values.h"

namespace braintrace {
namespace {

using namespace testing_support;

constexpr double pi = 3.141592653589793, e = 2.718281828459045;

TEST(Elementary, Exponentials) {
  expect_values(exp(tensor({0, 1, -inf, inf, nan})), {1, e, 0, inf, nan});
  expect_values(exp2(tensor({0, 10, -1})), {1, 1024, 0.5});
  expect_values(expm1(tensor({0, 1, -inf})), {0, e - 1, -1});
  EXPECT_EQ(expm1(tensor({1e-20})).item(), 1e-20);
}

TEST(Elementary, Logarithms) {
  expect_values(log(tensor({1, e, 0, -1, inf})), {0, 1, -inf, nan, inf});
  expect_values(log2(tensor({8, 0.25})), {3, -2});
  expect_values(log1p(tensor({0, e - 1, -1, -2})), {0, 1, -inf, nan});
  EXPECT_EQ(log1p(tensor({1e-20})).item(), 1e-20);
}

TEST(Elementary, Roots) {
  expect_values(sqrt(tensor({4, 0, -1, inf})), {2, 0, nan, inf});
  expect_values(rsqrt(tensor({4, 0, inf})), {0.5, inf, 0});
  expect_values(cbrt(tensor({27, -8, 0})), {3, -2, 0});
}

TEST(Elementary, Trigonometric) {
  expect_values(sin(tensor({0, pi / 2, pi / 6, inf})), {0, 1, 0.5, nan});
  expect_values(cos(tensor({0, pi, pi / 3})), {1, -1, 0.5});
  expect_values(tan(tensor({0, pi / 4})), {0, 1});
  expect_values(asin(tensor({0, 1, 0.5, 2})), {0, pi / 2, pi / 6, nan});
  expect_values(acos(tensor({1, 0, -1, 2})), {0, pi / 2, pi, nan});
  expect_values(atan(tensor({0, 1, -inf})), {0, pi / 4, -pi / 2});
}

TEST(Elementary, Atan2KnowsTheQuadrant) {
  expect_values(atan2(tensor({1, 1, -1, -1, 0}), tensor({1, -1, -1, 1, -1})),
                {pi / 4, 3 * pi / 4, -3 * pi / 4, -pi / 4, pi});
}

TEST(Elementary, Hyperbolic) {
  expect_values(sinh(tensor({0, 1})), {0, (e - 1 / e) / 2});
  expect_values(cosh(tensor({0, 1})), {1, (e + 1 / e) / 2});
  expect_values(tanh(tensor({0, 1, inf, -inf})), {0, (e * e - 1) / (e * e + 1), 1, -1});
  expect_values(asinh(sinh(tensor({-1.5, 0, 2}))), {-1.5, 0, 2});
  expect_values(acosh(cosh(tensor({0.5, 2}))), {0.5, 2});
  expect_values(atanh(tanh(tensor({-0.5, 0.75}))), {-0.5, 0.75});
  expect_values(atanh(tensor({1, -1, 2})), {inf, -inf, nan});
  expect_values(acosh(tensor({0.5})), {nan});
}

}  // namespace
}  // namespace braintrace
