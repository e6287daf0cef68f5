// SPDX-License-Identifier: Apache-2.0
// Every surrogate: H(x) forward, its closed form as derivative, in forward and reverse mode.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "braintrace/ir/builder.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/spike.h"
#include "braintrace/transforms/jvp.h"
#include "tests/support/error_of.h"
#include "tests/support/near.h"

namespace braintrace {

namespace {

constexpr double          pi = std::numbers::pi;
const std::vector<double> points{-2.3, -0.7, -0.11, 0.0, 0.2, 0.9, 1.7};

double sigma(double x) { return 1 / (1 + std::exp(-x)); }
double gauss(double x, double mu, double s) {
  return std::exp(-(x - mu) * (x - mu) / (2 * s * s)) / (s * std::sqrt(2 * pi));
}

// The table of the specification, written out again.
double expected(const std::string& kind, double x) {
  const double r = std::abs(x);
  if (kind == "sigmoid") return 4 * sigma(4 * x) * (1 - sigma(4 * x));
  if (kind == "piecewise_exp") return 0.5 * std::exp(-r);
  if (kind == "soft_sign") return 0.5 / ((1 + r) * (1 + r));
  if (kind == "arctan") return 0.5 / (1 + std::pow(pi * x / 2, 2));
  if (kind == "nonzero_sign_log") return 1 / (1 + r);
  if (kind == "erf") return std::exp(-x * x) / std::sqrt(pi);
  if (kind == "q_pseudo_spike") return std::pow(1 + 2 * r / 3, -2);
  if (kind == "leaky_relu") return x < 0 ? 0.1 : 1;
  if (kind == "log_tailed_relu") return x > 1 ? 1 / x : x > 0 ? 1 : 0;
  if (kind == "relu_grad") return std::max(0.3 - 0.3 * r, 0.0);
  if (kind == "gaussian_grad") return 0.5 * gauss(x, 0, 0.5);
  if (kind == "inv_square_grad") return 1 / std::pow(100 * r + 1, 2);
  if (kind == "slayer_grad") return std::exp(-r);
  if (kind == "piecewise_quadratic") return r <= 1 ? 1 - r : 0;
  if (kind == "piecewise_leaky_relu") return r > 1 ? 0.01 : 0.5;
  if (kind == "squarewave_fourier_series") return 0.5 * (std::cos(2 * pi * x / 8) + std::cos(6 * pi * x / 8));
  if (kind == "s2nn") return x < 0 ? 4 * sigma(4 * x) * (1 - sigma(4 * x)) : 1 / (x + 1);
  if (kind == "multi_gaussian_grad")
    return 0.5 * (1.15 * gauss(x, 0, 0.5) - 0.15 * gauss(x, 0.5, 3) - 0.15 * gauss(x, -0.5, 3));
  return std::nan("");
}

TEST(Surrogate, EveryKindHasItsClosedForm) {
  size_t tested = 0;
  for (const SurrogateKind& kind : surrogates()) {
    const Traced traced =
        trace({{DType::F64, {7}}}, [&](const Tensors& in) { return Tensors{spike(in[0], Surrogate(kind.name))}; });
    const Pushed r = jvp(traced.program, {f64(points)}, {Tensor(Type{DType::F64, {7}}, 1)});
    EXPECT_EQ(distance(r.out[0], {0, 0, 0, 1, 1, 1, 1}), 0) << kind.name;
    std::vector<double> slopes;
    for (double x : points) slopes.push_back(expected(kind.name, x));
    EXPECT_LT(distance(r.tangents[0], slopes), 1e-14) << kind.name;
    ++tested;
  }
  EXPECT_EQ(tested, 18u);
}

TEST(Surrogate, ParametersChangeTheSlope) {
  EXPECT_LT(distance(Surrogate("relu_grad", {2, 0.5}).slope(f64({0.25, 1})), {0.5, 0}), 1e-15);
  EXPECT_EQ(Surrogate("relu_grad", {2}).text(), "relu_grad(alpha=2, width=1)");
}

TEST(Surrogate, OwnKindsWorkLikeBuiltInOnes) {
  register_surrogate({"test_triangle", "1-|x|", {{"height", 1}}, [](const Tensor& x, const std::vector<double>& p) {
                        return p[0] * maximum(1 - abs(x), 0);
                      }});
  EXPECT_LT(distance(Surrogate("test_triangle", {3}).slope(f64({0.5})), {1.5}), 1e-15);
  // Registered again, the new kind replaces the old one; built-in kinds stay.
  register_surrogate({"test_triangle", "2x", {}, [](auto& x, auto&) { return 2 * x; }});
  EXPECT_LT(distance(Surrogate("test_triangle").slope(f64({0.5})), {1}), 1e-15);
  EXPECT_EQ(error_of([] {
              register_surrogate({"relu_grad", "", {}, [](auto& x, auto&) { return x; }});
            }),
            "register_surrogate: 'relu_grad' is built in; choose another name.");
}

TEST(Surrogate, UnknownKindsNameTheKnownOnes) {
  const std::string message = error_of([] { Surrogate("relu_gard"); });
  EXPECT_NE(message.find("relu_gard"), message.npos);
  EXPECT_NE(message.find("relu_grad"), message.npos);
  EXPECT_NE(error_of([] { Surrogate("sigmoid", {1, 2}); }), "");
}

}  // namespace

}  // namespace braintrace
