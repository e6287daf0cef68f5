// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/activation.h"

#include <numbers>

#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"

namespace braintrace {

namespace {

// x where it is not positive, else 0: keeps exponentials of the unused branch from overflowing into derivatives.
Tensor lower_part(const Tensor& x) { return select(greater(x, 0), 0, x); }

// x > 0 ? x : slope · (e^(x/width) - 1)
Tensor exponential_unit(const Tensor& x, double slope, double width) {
  return select(greater(x, 0), x, slope * expm1(lower_part(x) / width));
}

std::vector<Sample> alpha_sample(const Op& op, Rng& rng) {
  auto s     = scalar_sample(op, rng);
  s[0].attrs = {{keys::alpha, 0.7}};
  return s;
}

}  // namespace

// y = x for x > 0, else α (e^(x/α) - 1)
constinit const Op celu_op = elementwise_composite({
    .name  = "celu",
    .doc   = "continuously differentiable elu",
    .infer = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      require(a[keys::alpha] != 0, "{}: alpha must not be 0; use relu for that limit.", op.name);
      return float_infer(op, in, a);
    },
    .expand = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      return {exponential_unit(in[0], a[keys::alpha], a[keys::alpha])};
    },
    .sample = alpha_sample,
});

// y = x for x > 0, else α (e^x - 1)
constinit const Op elu_op = elementwise_composite({
    .name   = "elu",
    .doc    = "exponential linear unit",
    .expand = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      return {exponential_unit(in[0], a[keys::alpha], 1)};
    },
    .sample = alpha_sample,
});

// y = x Φ(x) = ½ x erfc(-x/√2)  ≈  ½ x (1 + tanh(√(2/π) (x + 0.044715 x³)))      (Hendrycks & Gimpel 2016)
constinit const Op gelu_op = elementwise_composite({
    .name   = "gelu",
    .doc    = "Gaussian error linear unit",
    .expand = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      using std::numbers::sqrt2, std::numbers::inv_sqrtpi;
      const Tensor& x = in[0];
      if (!a[keys::approximate]) return {0.5 * x * erfc(-sqrt2 / 2 * x)};
      return {0.5 * x * (1 + tanh(sqrt2 * inv_sqrtpi * (x + 0.044715 * integer_pow(x, 3))))};
    },
    .sample = [](const Op& op, Rng& rng) -> std::vector<Sample> {
      std::vector<Sample> out;
      for (bool approximate : {false, true}) {
        out.push_back(scalar_sample(op, rng)[0]);
        out.back().attrs = {{keys::approximate, approximate}};
      }
      return out;
    },
});

// y = clamp(x + 3, 0, 6) / 6
constinit const Op hard_sigmoid_op = elementwise_composite({
    .name   = "hard_sigmoid",
    .doc    = "piecewise linear sigmoid",
    .expand = [](const Op&, const Tensors& in, const Attrs&) -> Tensors { return {relu6(in[0] + 3) / 6}; },
    .scalar = {.lo = -5, .hi = 5},
});

// y = x hard_sigmoid(x)
constinit const Op hard_silu_op = elementwise_composite({
    .name   = "hard_silu",
    .doc    = "silu with hard_sigmoid",
    .expand = [](const Op&, const Tensors& in, const Attrs&) -> Tensors { return {in[0] * hard_sigmoid(in[0])}; },
    .scalar = {.lo = -5, .hi = 5},
});

constinit const Op hard_tanh_op = elementwise_composite({
    .name   = "hard_tanh",
    .doc    = "x limited to [-1, 1]",
    .expand = [](const Op&, const Tensors& in, const Attrs&) -> Tensors { return {clamp(in[0], -1, 1)}; },
});

// y = x for x > 0, else α x
constinit const Op leaky_relu_op = elementwise_composite({
    .name   = "leaky_relu",
    .doc    = "relu with a slope below 0",
    .expand = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      return {select(greater(in[0], 0), in[0], a[keys::alpha] * in[0])};
    },
    .sample = alpha_sample,
});

// y = -ln(1 + e^-x)
constinit const Op log_sigmoid_op = elementwise_composite({
    .name   = "log_sigmoid",
    .doc    = "logarithm of sigmoid",
    .expand = [](const Op&, const Tensors& in, const Attrs&) -> Tensors { return {-softplus(-in[0])}; },
});

// y = max(x, 0); the derivative at 0 is 0
constinit const Op relu_op = elementwise({
    .name   = "relu",
    .doc    = "x where positive, else 0",
    .code   = {"($a < 0 ? 0 : $a)", "($a < 0 ? 0 : $a)"},
    .scalar = {.real    = [](const double* x) { return x[0] < 0 ? 0 : x[0]; },
               .integer = [](const int64_t* x) { return x[0] < 0 ? 0 : x[0]; },
               .partial = {[](const Tensors& x, const Tensor& y) { return convert(greater(x[0], 0), y.dtype()); }}},
});

constinit const Op relu6_op = elementwise_composite({
    .name   = "relu6",
    .doc    = "x limited to [0, 6]",
    .expand = [](const Op&, const Tensors& in, const Attrs&) -> Tensors { return {clamp(in[0], 0, 6)}; },
    .scalar = {.lo = -3, .hi = 9},
});

// y = λ elu(x, α); α and λ keep mean 0 and variance 1 (Klambauer et al. 2017)
constinit const Op selu_op = elementwise_composite({
    .name   = "selu",
    .doc    = "self-normalizing elu",
    .expand = [](const Op&, const Tensors& in, const Attrs&) -> Tensors {
      constexpr double alpha = 1.6732632423543772, lambda = 1.0507009873554805;
      return {lambda * exponential_unit(in[0], alpha, 1)};
    },
});

// y = x sigmoid(x)
constinit const Op silu_op = elementwise_composite({
    .name   = "silu",
    .doc    = "sigmoid-weighted linear unit",
    .expand = [](const Op&, const Tensors& in, const Attrs&) -> Tensors { return {in[0] * sigmoid(in[0])}; },
});

const std::vector<const Op*>& activation_ops() {
  static const std::vector<const Op*> ops = {&celu_op,      &elu_op,       &gelu_op,       &hard_sigmoid_op,
                                             &hard_silu_op, &hard_tanh_op, &leaky_relu_op, &log_sigmoid_op,
                                             &relu_op,      &relu6_op,     &selu_op,       &silu_op};
  return ops;
}

}  // namespace braintrace
