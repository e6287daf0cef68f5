// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/elementary.h"

#include <cmath>

#include "braintrace/ops/math.h"

namespace braintrace {

namespace {

constexpr double ln2 = 0x1.62e42fefa39efp-1;

}  // namespace

constinit const Op acos_op = elementwise({
    .name   = "acos",
    .doc    = "inverse cosine",
    .code   = {"@bt_acos$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::acos(x[0]); },
               .partial = {[](const Tensors& x, const Tensor&) { return -rsqrt((1 - x[0]) * (1 + x[0])); }},
               .lo      = -0.9,
               .hi      = 0.9},
});

constinit const Op acosh_op = elementwise({
    .name   = "acosh",
    .doc    = "inverse hyperbolic cosine",
    .code   = {"@bt_acosh$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::acosh(x[0]); },
               .partial = {[](const Tensors& x, const Tensor&) { return rsqrt((x[0] - 1) * (x[0] + 1)); }},
               .lo      = 1.2,
               .hi      = 3},
});

constinit const Op asin_op = elementwise({
    .name   = "asin",
    .doc    = "inverse sine",
    .code   = {"@bt_asin$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::asin(x[0]); },
               .partial = {[](const Tensors& x, const Tensor&) { return rsqrt((1 - x[0]) * (1 + x[0])); }},
               .lo      = -0.9,
               .hi      = 0.9},
});

constinit const Op asinh_op = elementwise({
    .name   = "asinh",
    .doc    = "inverse hyperbolic sine",
    .code   = {"@bt_asinh$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::asinh(x[0]); },
               .partial = {[](const Tensors& x, const Tensor&) { return rsqrt(1 + square(x[0])); }}},
});

constinit const Op atan_op = elementwise({
    .name   = "atan",
    .doc    = "inverse tangent",
    .code   = {"@bt_atan$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::atan(x[0]); },
               .partial = {[](const Tensors& x, const Tensor&) { return 1 / (1 + square(x[0])); }}},
});

// ∂/∂y = x / (x² + y²),  ∂/∂x = -y / (x² + y²)
constinit const Op atan2_op = elementwise({
    .name     = "atan2",
    .doc      = "angle of the point (x, y)",
    .operands = "y x",
    .code     = {"@bt_atan2$f($a, $b)", "", ElementCost::Series},
    .scalar   = {.real    = [](const double* x) { return std::atan2(x[0], x[1]); },
                 .partial = {[](const Tensors& x, const Tensor&) { return x[1] / (square(x[0]) + square(x[1])); },
                             [](const Tensors& x, const Tensor&) { return -x[0] / (square(x[0]) + square(x[1])); }},
                 .lo      = 0.3},
});

constinit const Op atanh_op = elementwise({
    .name   = "atanh",
    .doc    = "inverse hyperbolic tangent",
    .code   = {"@bt_atanh$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::atanh(x[0]); },
               .partial = {[](const Tensors& x, const Tensor&) { return 1 / ((1 - x[0]) * (1 + x[0])); }},
               .lo      = -0.9,
               .hi      = 0.9},
});

constinit const Op cbrt_op = elementwise({
    .name   = "cbrt",
    .doc    = "cube root",
    .code   = {"@bt_cbrt$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::cbrt(x[0]); },
               .partial = {[](const Tensors&, const Tensor& y) { return 1 / (3 * square(y)); }},
               .lo      = 0.2},
});

constinit const Op cos_op = elementwise({
    .name   = "cos",
    .doc    = "cosine",
    .code   = {"@bt_cos$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::cos(x[0]); },
               .partial = {[](const Tensors& x, const Tensor&) { return -sin(x[0]); }}},
});

constinit const Op cosh_op = elementwise({
    .name   = "cosh",
    .doc    = "hyperbolic cosine",
    .code   = {"@bt_cosh$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::cosh(x[0]); },
               .partial = {[](const Tensors& x, const Tensor&) { return sinh(x[0]); }}},
});

constinit const Op exp_op = elementwise({
    .name   = "exp",
    .doc    = "e to the power x",
    .code   = {"@bt_exp$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::exp(x[0]); },
               .partial = {[](const Tensors&, const Tensor& y) { return y; }}},
});

constinit const Op exp2_op = elementwise({
    .name   = "exp2",
    .doc    = "2 to the power x",
    .code   = {"@bt_exp2$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::exp2(x[0]); },
               .partial = {[](const Tensors&, const Tensor& y) { return ln2 * y; }}},
});

constinit const Op expm1_op = elementwise({
    .name   = "expm1",
    .doc    = "e to the power x, minus 1, accurate near 0",
    .code   = {"@bt_expm1$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::expm1(x[0]); },
               .partial = {[](const Tensors& x, const Tensor&) { return exp(x[0]); }}},
});

constinit const Op log_op = elementwise({
    .name   = "log",
    .doc    = "natural logarithm",
    .code   = {"@bt_log$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::log(x[0]); },
               .partial = {[](const Tensors& x, const Tensor&) { return 1 / x[0]; }},
               .lo      = 0.2},
});

constinit const Op log1p_op = elementwise({
    .name   = "log1p",
    .doc    = "natural logarithm of 1 + x, accurate near 0",
    .code   = {"@bt_log1p$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::log1p(x[0]); },
               .partial = {[](const Tensors& x, const Tensor&) { return 1 / (1 + x[0]); }},
               .lo      = -0.8},
});

constinit const Op log2_op = elementwise({
    .name   = "log2",
    .doc    = "logarithm to base 2",
    .code   = {"@bt_log2$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::log2(x[0]); },
               .partial = {[](const Tensors& x, const Tensor&) { return 1 / (ln2 * x[0]); }},
               .lo      = 0.2},
});

constinit const Op rsqrt_op = elementwise({
    .name   = "rsqrt",
    .doc    = "1 / √x",
    .code   = {"@bt_rsqrt$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return 1 / std::sqrt(x[0]); },
               .partial = {[](const Tensors& x, const Tensor& y) { return -0.5 * y / x[0]; }},
               .lo      = 0.2},
});

constinit const Op sin_op = elementwise({
    .name   = "sin",
    .doc    = "sine",
    .code   = {"@bt_sin$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::sin(x[0]); },
               .partial = {[](const Tensors& x, const Tensor&) { return cos(x[0]); }}},
});

constinit const Op sinh_op = elementwise({
    .name   = "sinh",
    .doc    = "hyperbolic sine",
    .code   = {"@bt_sinh$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::sinh(x[0]); },
               .partial = {[](const Tensors& x, const Tensor&) { return cosh(x[0]); }}},
});

constinit const Op sqrt_op = elementwise({
    .name   = "sqrt",
    .doc    = "square root",
    .code   = {"sqrt$f($a)", "", ElementCost::Division},
    .scalar = {.real    = [](const double* x) { return std::sqrt(x[0]); },
               .partial = {[](const Tensors&, const Tensor& y) { return 0.5 / y; }},
               .lo      = 0.2},
});

constinit const Op tan_op = elementwise({
    .name   = "tan",
    .doc    = "tangent",
    .code   = {"@bt_tan$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::tan(x[0]); },
               .partial = {[](const Tensors&, const Tensor& y) { return 1 + square(y); }},
               .lo      = -1,
               .hi      = 1},
});

constinit const Op tanh_op = elementwise({
    .name   = "tanh",
    .doc    = "hyperbolic tangent",
    .code   = {"@bt_tanh$f($a)", "", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::tanh(x[0]); },
               .partial = {[](const Tensors&, const Tensor& y) { return 1 - square(y); }}},
});

const std::vector<const Op*>& elementary_ops() {
  static const std::vector<const Op*> ops = {
      &acos_op, &acosh_op, &asin_op, &asinh_op, &atan_op, &atan2_op, &atanh_op, &cbrt_op, &cos_op,  &cosh_op, &exp_op,
      &exp2_op, &expm1_op, &log_op,  &log1p_op, &log2_op, &rsqrt_op, &sin_op,   &sinh_op, &sqrt_op, &tan_op,  &tanh_op};
  return ops;
}

}  // namespace braintrace
