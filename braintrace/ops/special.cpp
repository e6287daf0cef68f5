// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/special.h"

#include <cmath>
#include <numbers>

#include "braintrace/ops/keys.h"
#include "braintrace/ops/math.h"

namespace braintrace {

namespace {

using keys::order;

using std::numbers::pi;
constexpr double  sqrt_pi   = 0x1.c5bf891b4ef6bp+0;
constexpr int64_t max_order = 32;

// The n-th derivative of cot(πx): each derivative is a polynomial in c = cot(πx), since dc/dx = -π (1 + c²).
double cot_derivative(int64_t n, double x) {
  std::vector<double> p = {0, 1};
  for (int64_t k = 0; k < n; ++k) {
    std::vector<double> next(p.size() + 1, 0);
    for (size_t i = 1; i < p.size(); ++i) {
      next[i - 1] -= pi * static_cast<double>(i) * p[i];
      next[i + 1] -= pi * static_cast<double>(i) * p[i];
    }
    p = std::move(next);
  }
  const double c = 1 / std::tan(pi * (x - std::floor(x)));
  double       y = 0;
  for (size_t i = p.size(); i-- > 0;) y = y * c + p[i];
  return y;
}

// ψ_n(x), the n-th derivative of digamma = ψ_0 (Abramowitz & Stegun 6.4):
//   reflection   ψ_n(x) = (-1)ⁿ ψ_n(1-x) - π (d/dx)ⁿ cot(πx)               for x < 0
//   recurrence   ψ_n(x) = ψ_n(x+1) - (-1)ⁿ n! x^(-n-1)                      up to a large argument, where
//   asymptotic   ψ_n(x) ≈ (-1)^(n+1) [(n-1)! x^(-n) + n! x^(-n-1)/2 + Σ_k B_2k (2k+n-1)!/(2k)! x^(-2k-n)]
// with ln x in place of the first term for n = 0.
double polygamma_value(int64_t n, double x) {
  const double sign = n % 2 ? -1 : 1;
  if (std::isnan(x) || (std::isinf(x) && x < 0)) return NAN;
  if (std::isinf(x)) return n == 0 ? x : 0;
  if (x <= 0 && x == std::floor(x)) return n % 2 ? INFINITY : NAN;
  if (x < 0) return sign * polygamma_value(n, 1 - x) - pi * cot_derivative(n, x);

  const double factorial = std::tgamma(static_cast<double>(n) + 1);
  const double power     = static_cast<double>(n);
  double       y         = 0;
  for (; x < 16 + power; x += 1) y -= sign * factorial * std::pow(x, -power - 1);
  constexpr double bernoulli[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6};

  double series = n == 0 ? -std::log(x) : factorial / power * std::pow(x, -power);
  series += factorial / 2 * std::pow(x, -power - 1);
  for (int64_t k = 1; k <= 7; ++k) {
    const double even = static_cast<double>(2 * k);
    series += bernoulli[k - 1] * std::tgamma(even + power) / std::tgamma(even + 1) * std::pow(x, -even - power);
  }
  return y - sign * series;
}

// The inverse of erf: a closed approximation (Winitzki 2008, error below 2e-3), then Halley steps, which triple the
// digits. Near 1 the residual is taken from erfc, where it does not cancel.
double erf_inv_value(double x) {
  if (!(std::abs(x) < 1)) return std::abs(x) == 1 ? std::copysign(INFINITY, x) : NAN;
  const double a = std::abs(x), l = std::log1p(-a * a), t = 2 / (pi * 0.147) + l / 2;
  double       y = std::sqrt(std::sqrt(t * t - l / 0.147) - t);
  for (int i = 0; i < 3; ++i) {
    const double residual = a < 0.5 ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const double step     = residual * (sqrt_pi / 2) * std::exp(y * y);
    y -= step / (1 + y * step);
  }
  return std::copysign(y, x);
}

double sigmoid_value(double x) {
  const double e = std::exp(-std::abs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

}  // namespace

// ψ = d/dx ln Γ
constinit const Op digamma_op = elementwise({
    .name   = "digamma",
    .doc    = "derivative of lgamma",
    .code   = {"", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return polygamma_value(0, x[0]); },
               .partial = {[](const Tensors& x, const Tensor&) { return polygamma(1, x[0]); }},
               .lo      = 0.3,
               .hi      = 4},
});

// dy = 2/√π e^(-x²) dx
constinit const Op erf_op = elementwise({
    .name   = "erf",
    .doc    = "error function",
    .code   = {"@bt_erf$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::erf(x[0]); },
               .partial = {[](const Tensors& x, const Tensor&) { return 2 / sqrt_pi * exp(-square(x[0])); }}},
});

// dy = √π/2 e^(y²) dx
constinit const Op erf_inv_op = elementwise({
    .name   = "erf_inv",
    .doc    = "inverse of erf",
    .code   = {"", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return erf_inv_value(x[0]); },
               .partial = {[](const Tensors&, const Tensor& y) { return sqrt_pi / 2 * exp(square(y)); }},
               .lo      = -0.9,
               .hi      = 0.9},
});

// y = 1 - erf x without cancellation
constinit const Op erfc_op = elementwise({
    .name   = "erfc",
    .doc    = "complement of erf",
    .code   = {"@bt_erfc$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::erfc(x[0]); },
               .partial = {[](const Tensors& x, const Tensor&) { return -2 / sqrt_pi * exp(-square(x[0])); }}},
});

constinit const Op lgamma_op = elementwise({
    .name   = "lgamma",
    .doc    = "logarithm of |Γ(x)|",
    .code   = {"@bt_lgamma$f($a)", "", ElementCost::Series},
    .scalar = {.real =
                   [](const double* x) {
                     int sign;  // std::lgamma writes it to a global variable, which is a data race
                     return ::lgamma_r(x[0], &sign);
                   },
               .partial = {[](const Tensors& x, const Tensor&) { return digamma(x[0]); }},
               .lo      = 0.3,
               .hi      = 4},
});

// y = ln(x / (1 - x))
constinit const Op logit_op = elementwise_composite({
    .name   = "logit",
    .doc    = "inverse of sigmoid",
    .expand = [](const Op&, const Tensors& in, const Attrs&) -> Tensors { return {log(in[0]) - log1p(-in[0])}; },
    .scalar = {.lo = 0.1, .hi = 0.9},
});

// dψ_n = ψ_(n+1) dx
constinit const Op polygamma_op = elementwise({
    .name  = "polygamma",
    .doc   = "derivative of digamma of a fixed order",
    .infer = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      require(a[order] >= 0 && a[order] <= max_order, "{}: order {} is outside 0 … {}.", op.name, a[order], max_order);
      return float_infer(op, in, a);
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      const Doubles       x(in[0]);
      std::vector<double> y(static_cast<size_t>(out[0].size()));
      for (size_t i = 0; i < y.size(); ++i) y[i] = polygamma_value(a[order], x[static_cast<int64_t>(i)]);
      return {from_doubles(out[0], y)};
    },
    .jvp    = [](const JvpArgs& a) -> Tensors { return {a.tangents[0] * polygamma(a.attrs[order] + 1, a.in[0])}; },
    .code   = {"", "", ElementCost::Series},
    .scalar = {.lo = 1, .hi = 4},
    .sample = [](const Op& op, Rng& rng) -> std::vector<Sample> {
      std::vector<Sample> out;
      for (int64_t n : {0, 1, 2}) {
        out.push_back(scalar_sample(op, rng)[0]);
        out.back().attrs = {{order, n}};
      }
      return out;
    },
});

// y = 1 / (1 + e^-x),  dy = y (1 - y) dx
constinit const Op sigmoid_op = elementwise({
    .name   = "sigmoid",
    .doc    = "logistic function",
    .code   = {"@bt_sigmoid$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return sigmoid_value(x[0]); },
               .partial = {[](const Tensors&, const Tensor& y) { return y * (1 - y); }}},
});

// y = ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|),  dy = sigmoid(x) dx
constinit const Op softplus_op = elementwise({
    .name   = "softplus",
    .doc    = "logarithm of 1 + e^x",
    .code   = {"@bt_softplus$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return (x[0] < 0 ? 0 : x[0]) + std::log1p(std::exp(-std::abs(x[0]))); },
               .partial = {[](const Tensors& x, const Tensor&) { return sigmoid(x[0]); }}},
});

Tensor polygamma(int64_t n, const Tensor& x) { return elementwise_apply(polygamma_op, {x}, {{order, n}}); }

const std::vector<const Op*>& special_ops() {
  static const std::vector<const Op*> ops = {&digamma_op, &erf_op,       &erf_inv_op, &erfc_op,    &lgamma_op,
                                             &logit_op,   &polygamma_op, &sigmoid_op, &softplus_op};
  return ops;
}

}  // namespace braintrace
