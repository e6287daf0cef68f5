// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/math.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "braintrace/base/rng.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/scalar_math.h"

namespace braintrace {

namespace {

using keys::dtype;
using keys::exponent;

// 1 where a > b, ½ where equal, else 0: the share of a in the derivative of max(a, b).
Tensor larger_share(const Tensor& a, const Tensor& b) {
  return select(equal(a, b), 0.5, convert(greater(a, b), a.dtype()));
}

// ∂(a mod b)/∂b: minus the integer quotient q, because a mod b = a - q b.
Tensor minus_quotient(const Tensors& x, const Tensor& y) { return round((y - x[0]) / x[1]); }

Tensor one_like(const Tensors& x, const Tensor&) { return Tensor(x[0].type(), 1); }

bool holds_all_of(DType wide, DType narrow) {
  if (narrow == DType::Bool || wide == DType::F64) return narrow != DType::I64;
  if (is_float(narrow)) return wide == DType::F32 && narrow != DType::F64;
  return wide == DType::I64;
}

bool same_value(const Tensor& a, const Tensor& b) {
  if (a.is_literal()) return b.is_literal(a.fill());
  return a.is_traced() && b.is_traced() && a.trace() == b.trace() && a.trace_var() == b.trace_var();
}

}  // namespace

// dy = sign(x) dx
constinit const Op abs_op = elementwise({
    .name   = "abs",
    .doc    = "absolute value",
    .code   = {"fabs$f($a)", "($a < 0 ? -$a : $a)"},
    .scalar = {.real    = [](const double* x) { return std::abs(x[0]); },
               .integer = [](const int64_t* x) { return x[0] < 0 ? wrap_sub(0, x[0]) : x[0]; },
               .partial = {[](const Tensors& x, const Tensor&) { return sign(x[0]); }}},
});

// y = a + b
constinit const Op add_op = elementwise({
    .name      = "add",
    .doc       = "a + b",
    .operands  = "lhs rhs",
    .linearity = Linearity::Joint,
    .transpose = [](const TransposeArgs& a) -> Tensors {
      return {a.linear[0] ? a.ct[0] : Tensor(), a.linear[1] ? a.ct[0] : Tensor()};
    },
    .simplify = [](const Op&, const Tensors& in, const Attrs&) -> Tensors {
      if (in[0].is_literal(0)) return {in[1]};
      if (in[1].is_literal(0)) return {in[0]};
      return {};
    },
    .code   = {"($a + $b)", "($a + $b)"},
    .scalar = {.real    = [](const double* x) { return x[0] + x[1]; },
               .integer = [](const int64_t* x) { return wrap_add(x[0], x[1]); }},
});

constinit const Op ceil_op = elementwise({
    .name   = "ceil",
    .doc    = "least integer not below x",
    .code   = {"ceil$f($a)", ""},
    .scalar = {.real = [](const double* x) { return std::ceil(x[0]); }},
});

// y = min(max(x, lo), hi); NaN anywhere gives NaN. At a bound the derivative belongs to the bound.
constinit const Op clamp_op = elementwise({
    .name     = "clamp",
    .doc      = "x limited to [lo, hi]",
    .operands = "x lo hi",
    .code     = {"@bt_min$f(@bt_max$f($a, $b), $c)", "@bt_min_i(@bt_max_i($a, $b), $c)"},
    .scalar   = {.real    = [](const double* x) { return nan_min(nan_max(x[0], x[1]), x[2]); },
                 .integer = [](const int64_t* x) { return std::min(std::max(x[0], x[1]), x[2]); },
                 .partial = {[](const Tensors& x, const Tensor& y) {
                             return convert(logical_and(greater(x[0], x[1]), less(x[0], x[2])), y.dtype());
                           },
                             [](const Tensors& x, const Tensor& y) {
                             return convert(logical_and(less_equal(x[0], x[1]), less(x[1], x[2])), y.dtype());
                           },
                             [](const Tensors& x, const Tensor& y) {
                             return convert(greater_equal(maximum(x[0], x[1]), x[2]), y.dtype());
                           }}},
    .sample   = [](const Op&, Rng& rng) -> std::vector<Sample> {
      auto draw = [&](double from) {
        std::vector<double> v(6);
        for (double& e : v) e = from + rng.uniform();
        return Tensor(from_doubles({DType::F64, {2, 3}}, v));
      };
      const Tensor x(Array::of<double>({-3, 0.1, 3, -0.2, 4, 0.3}, {2, 3}));
      return {{{x, draw(-2), draw(1)}, {}}};
    },
});

// Changes the element type: floats round to nearest, float to integer truncates and saturates, NaN becomes 0.
constinit const Op convert_op = {
    .name  = "convert",
    .doc   = "change of element type",
    .infer = [](const Op&, const Types& in, const Attrs& a) -> Types {
      return {{a[dtype], in[0].shape}};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types&) -> Arrays {
      return {convert(in[0], a[dtype])};
    },
    .linearity = Linearity::Joint,
    .transpose = [](const TransposeArgs& a) -> Tensors { return {convert(a.ct[0], a.types[0].dtype)}; },
    .batch     = elementwise_batch,
    .simplify  = [](const Op& op, const Tensors& in, const Attrs& a) -> Tensors {
      if (in[0].dtype() == a[dtype]) return {in[0]};
      if (in[0].is_literal()) return {convert(in[0], a[dtype])};
      const auto from = made_by(op, in[0]);
      if (from && from->in[0].dtype() == a[dtype] && holds_all_of(in[0].dtype(), a[dtype])) return {from->in[0]};
      return {};
    },
    .depend = elementwise_depend,
    .code   = {"$a", "$a"},
    .sample = [](const Op&, Rng&) -> std::vector<Sample> {
      return {{{Array::of<double>({0.5, -1.25, 3}, {3})}, {{dtype, DType::F64}}},
              {{Array::of<int32_t>({5, -1, 3}, {3})}, {{dtype, DType::F64}}},
              {{Array::of<double>({0.5, -1.25, 3}, {3})}, {{dtype, DType::I32}}}};
    },
};

// y = a / b
constinit const Op div_op = elementwise({
    .name            = "div",
    .doc             = "a / b; integer division truncates and gives 0 for b = 0",
    .operands        = "lhs rhs",
    .linearity       = Linearity::Each,
    .linear_operands = 0b01,
    .jvp             = scalar_jvp,
    .transpose       = [](const TransposeArgs& a) -> Tensors {
      return {a.ct[0] / a.in[1], Tensor()};
    },
    .simplify = [](const Op&, const Tensors& in, const Attrs&) -> Tensors {
      return in[1].is_literal(1) ? Tensors{in[0]} : Tensors{};
    },
    .code   = {"($a / $b)", "@bt_div_i($a, $b)", ElementCost::Division},
    .scalar = {.real    = [](const double* x) { return x[0] / x[1]; },
               .integer = [](const int64_t* x) { return whole_div(x[0], x[1]); },
               .partial = {[](const Tensors& x, const Tensor&) { return 1 / x[1]; },
                           [](const Tensors& x, const Tensor& y) { return -y / x[1]; }},
               .lo      = 0.5},
});

constinit const Op floor_op = elementwise({
    .name   = "floor",
    .doc    = "largest integer not above x",
    .code   = {"floor$f($a)", ""},
    .scalar = {.real = [](const double* x) { return std::floor(x[0]); }},
});

// y = x^n by repeated squaring, dy = n x^(n-1) dx
constinit const Op integer_pow_op = elementwise_composite({
    .name  = "integer_pow",
    .doc   = "x to a fixed integer power",
    .infer = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      require(in[0].dtype != DType::Bool, "{}: expected numbers, got bool; convert them first.", op.name);
      require(is_float(in[0].dtype) || a[exponent] >= 0,
              "{}: exponent {} of integers is negative; convert them to a float type first.", op.name, a[exponent]);
      return {in[0]};
    },
    .expand = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      const bool inverted = a[exponent] < 0;
      uint64_t   n        = inverted ? 0 - static_cast<uint64_t>(a[exponent]) : static_cast<uint64_t>(a[exponent]);
      Tensor     y, power = in[0];
      for (; n; n >>= 1) {
        if (n & 1) y = y.defined() ? y * power : power;
        if (n > 1) power = square(power);
      }
      if (!y.defined()) return {Tensor(in[0].type(), 1)};
      return {inverted ? reciprocal(y) : y};
    },
    .jvp = [](const JvpArgs& a) -> Tensors {
      const int64_t n = a.attrs[exponent];
      if (n == 0) return {Tensor()};
      return {a.tangents[0] * (integer_pow(a.in[0], n - 1) * Tensor(a.in[0].type(), static_cast<double>(n)))};
    },
    .simplify = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      if (a[exponent] == 0) return {Tensor(in[0].type(), 1)};
      if (a[exponent] == 1) return {in[0]};
      if (a[exponent] == 2) return {square(in[0])};
      return {};
    },
    .scalar = {.lo = 0.5},
    .sample = [](const Op& op, Rng& rng) -> std::vector<Sample> {
      std::vector<Sample> out;
      for (int64_t n : {0, 1, 2, 3, 7, -1, -2}) {
        out.push_back(scalar_sample(op, rng)[0]);
        out.back().attrs = {{exponent, n}};
      }
      return out;
    },
});

// NaN in either operand gives NaN; at a tie each operand gets half of the derivative.
constinit const Op max_op = elementwise({
    .name     = "max",
    .doc      = "the larger of a and b",
    .operands = "lhs rhs",
    .code     = {"@bt_max$f($a, $b)", "@bt_max_i($a, $b)"},
    .scalar   = {.real    = [](const double* x) { return nan_max(x[0], x[1]); },
                 .integer = [](const int64_t* x) { return std::max(x[0], x[1]); },
                 .partial = {[](const Tensors& x, const Tensor&) { return larger_share(x[0], x[1]); },
                             [](const Tensors& x, const Tensor&) { return larger_share(x[1], x[0]); }}},
});

// NaN and ties as in max.
constinit const Op min_op = elementwise({
    .name     = "min",
    .doc      = "the smaller of a and b",
    .operands = "lhs rhs",
    .code     = {"@bt_min$f($a, $b)", "@bt_min_i($a, $b)"},
    .scalar   = {.real    = [](const double* x) { return nan_min(x[0], x[1]); },
                 .integer = [](const int64_t* x) { return std::min(x[0], x[1]); },
                 .partial = {[](const Tensors& x, const Tensor&) { return larger_share(x[1], x[0]); },
                             [](const Tensors& x, const Tensor&) { return larger_share(x[0], x[1]); }}},
});

// y = a - ⌊a/b⌋ b
constinit const Op mod_op = elementwise({
    .name     = "mod",
    .doc      = "remainder with the sign of b; integers give 0 for b = 0",
    .operands = "lhs rhs",
    .code     = {"@bt_mod$f($a, $b)", "@bt_mod_i($a, $b)", ElementCost::Series},
    .scalar   = {.real =
                     [](const double* x) {
                     const double r = std::fmod(x[0], x[1]);
                     if (r == 0) return std::copysign(r, x[1]);
                     return (r < 0) != (x[1] < 0) ? r + x[1] : r;
                   },
                 .integer =
                     [](const int64_t* x) {
                     const int64_t r = whole_rem(x[0], x[1]);
                     return r != 0 && (r < 0) != (x[1] < 0) ? r + x[1] : r;
                   },
                 .partial = {one_like, minus_quotient},
                 .lo      = 0.5},
});

// y = a · b
constinit const Op mul_op = elementwise({
    .name      = "mul",
    .doc       = "a · b",
    .operands  = "lhs rhs",
    .linearity = Linearity::Each,
    .transpose = [](const TransposeArgs& a) -> Tensors {
      return {a.linear[0] ? a.ct[0] * a.in[1] : Tensor(), a.linear[1] ? a.ct[0] * a.in[0] : Tensor()};
    },
    .simplify = [](const Op&, const Tensors& in, const Attrs&) -> Tensors {
      if (in[0].is_literal(1)) return {in[1]};
      if (in[1].is_literal(1)) return {in[0]};
      if (in[0].is_literal(-1)) return {-in[1]};
      if (in[1].is_literal(-1)) return {-in[0]};
      return {};
    },
    .code   = {"($a * $b)", "($a * $b)"},
    .scalar = {.real    = [](const double* x) { return x[0] * x[1]; },
               .integer = [](const int64_t* x) { return wrap_mul(x[0], x[1]); }},
});

constinit const Op neg_op = elementwise({
    .name      = "neg",
    .doc       = "-x",
    .linearity = Linearity::Joint,
    .transpose = [](const TransposeArgs& a) -> Tensors { return {-a.ct[0]}; },
    .simplify  = [](const Op& op, const Tensors& in, const Attrs&) -> Tensors {
      const auto from = made_by(op, in[0]);
      return from ? from->in : Tensors{};
    },
    .code   = {"(-$a)", "(-$a)"},
    .scalar = {.real    = [](const double* x) { return -x[0]; },
               .integer = [](const int64_t* x) { return wrap_sub(0, x[0]); }},
});

// y = a^b.  ∂y/∂a = b a^(b-1), which is 0 for b = 0 also at a = 0;  ∂y/∂b = y ln a, which is 0 at a = 0
constinit const Op pow_op = elementwise({
    .name     = "pow",
    .doc      = "a to the power b; integers with negative b give the truncated reciprocal",
    .operands = "base exponent",
    .simplify = [](const Op&, const Tensors& in, const Attrs&) -> Tensors {
      if (in[1].is_literal(0)) return {Tensor(in[0].type(), 1)};
      if (in[1].is_literal(1)) return {in[0]};
      if (in[1].is_literal(2)) return {square(in[0])};
      return {};
    },
    .code   = {"@bt_pow$f($a, $b)", "@bt_pow_i($a, $b)", ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::pow(x[0], x[1]); },
               .integer = [](const int64_t* x) { return whole_pow(x[0], x[1]); },
               .partial = {[](const Tensors& x, const Tensor&) {
                             const Tensor b = select(equal(x[1], 0), 1, x[1]);
                             return x[1] * pow(x[0], b - 1);
                           },
                           [](const Tensors& x, const Tensor& y) { return y * log(select(equal(x[0], 0), 1, x[0])); }},
               .lo      = 0.5},
});

// dy = -y² dx
constinit const Op reciprocal_op = elementwise({
    .name   = "reciprocal",
    .doc    = "1 / x",
    .code   = {"(1 / $a)", "", ElementCost::Division},
    .scalar = {.real    = [](const double* x) { return 1 / x[0]; },
               .partial = {[](const Tensors&, const Tensor& y) { return -square(y); }},
               .lo      = 0.5},
});

// y = a - trunc(a/b) b
constinit const Op rem_op = elementwise({
    .name     = "rem",
    .doc      = "remainder with the sign of a; integers give 0 for b = 0",
    .operands = "lhs rhs",
    .code     = {"@bt_fmod$f($a, $b)", "@bt_rem_i($a, $b)", ElementCost::Series},
    .scalar   = {.real    = [](const double* x) { return std::fmod(x[0], x[1]); },
                 .integer = [](const int64_t* x) { return whole_rem(x[0], x[1]); },
                 .partial = {one_like, minus_quotient},
                 .lo      = 0.5},
});

constinit const Op round_op = elementwise({
    .name   = "round",
    .doc    = "nearest integer, halves to the even one",
    .code   = {"rint$f($a)", ""},
    .scalar = {.real = [](const double* x) { return std::nearbyint(x[0]); }},
});

// y = if_true where pred, else if_false
constinit const Op select_op = {
    .name     = "select",
    .doc      = "elementwise choice by a bool",
    .operands = "pred if_true if_false",
    .infer    = [](const Op& op, const Types& in, const Attrs&) -> Types {
      require(in[0] == Type{DType::Bool, in[1].shape} && in[1] == in[2],
                 "{}: expected a bool pred and two branches of the same type and shape, got {}, {} and {}.", op.name,
                 to_string(in[0]), to_string(in[1]), to_string(in[2]));
      return {in[1]};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs&, const Types& out) -> Arrays {
      Array       y(out[0]);
      const auto  size = size_of(out[0].dtype);
      const bool* pred = in[0].data<bool>();
      auto*       to   = static_cast<char*>(y.mutable_raw());
      for (int64_t i = 0; i < y.size(); ++i)
        std::copy_n(static_cast<const char*>(in[pred[i] ? 1 : 2].raw()) + i * size, size, to + i * size);
      return {y};
    },
    .linearity       = Linearity::Joint,
    .linear_operands = 0b110,
    .transpose       = [](const TransposeArgs& a) -> Tensors {
      const Tensor zero(a.types[1], 0);
      return {Tensor(), a.linear[1] ? select(a.in[0], a.ct[0], zero) : Tensor(),
              a.linear[2] ? select(a.in[0], zero, a.ct[0]) : Tensor()};
    },
    .batch    = elementwise_batch,
    .simplify = [](const Op&, const Tensors& in, const Attrs&) -> Tensors {
      if (in[0].is_literal()) return {in[in[0].fill() != 0 ? 1 : 2]};
      if (same_value(in[1], in[2])) return {in[1]};
      return {};
    },
    .depend = elementwise_depend,
    .code   = {"($a ? $b : $c)", "($a ? $b : $c)"},
    .sample = [](const Op&, Rng&) -> std::vector<Sample> {
      return {{{Array::of<bool>({true, false, true}, {3}), Array::of<double>({1, 2, 3}, {3}),
                Array::of<double>({-1, 0.5, 4}, {3})},
               {}}};
    },
};

constinit const Op sign_op = elementwise({
    .name   = "sign",
    .doc    = "-1, 0 or 1; NaN stays NaN",
    .code   = {"@bt_sign$f($a)", "(($a > 0) - ($a < 0))"},
    .scalar = {.real    = [](const double* x) { return x[0] > 0   ? 1.0
                                                       : x[0] < 0 ? -1.0
                                                                  : x[0]; },
               .integer = [](const int64_t* x) { return int64_t{x[0] > 0} - int64_t{x[0] < 0}; }},
});

// dy = 2x dx
constinit const Op square_op = elementwise({
    .name   = "square",
    .doc    = "x · x",
    .code   = {"($a * $a)", "($a * $a)"},
    .scalar = {.real    = [](const double* x) { return x[0] * x[0]; },
               .integer = [](const int64_t* x) { return wrap_mul(x[0], x[0]); },
               .partial = {[](const Tensors& x, const Tensor&) { return 2 * x[0]; }}},
});

// y = x, dy = 0. The derivative intentionally differs from the difference quotient, so the samples are integers.
constinit const Op stop_gradient_op = elementwise({
    .name     = "stop_gradient",
    .doc      = "x, held constant under differentiation",
    .simplify = [](const Op& op, const Tensors& in, const Attrs&) -> Tensors {
      return made_by(op, in[0]) ? in : Tensors{};
    },
    .code   = {"$a", "$a"},
    .scalar = {.real = [](const double* x) { return x[0]; }, .integer = [](const int64_t* x) { return x[0]; }},
    .sample = [](const Op&, Rng&) -> std::vector<Sample> {
      return {{{Array::of<int32_t>({5, -1, 3}, {3})}, {}}};
    },
});

// y = a - b
constinit const Op sub_op = elementwise({
    .name      = "sub",
    .doc       = "a - b",
    .operands  = "lhs rhs",
    .linearity = Linearity::Joint,
    .transpose = [](const TransposeArgs& a) -> Tensors {
      return {a.linear[0] ? a.ct[0] : Tensor(), a.linear[1] ? -a.ct[0] : Tensor()};
    },
    .simplify = [](const Op&, const Tensors& in, const Attrs&) -> Tensors {
      return in[1].is_literal(0) ? Tensors{in[0]} : Tensors{};
    },
    .code   = {"($a - $b)", "($a - $b)"},
    .scalar = {.real    = [](const double* x) { return x[0] - x[1]; },
               .integer = [](const int64_t* x) { return wrap_sub(x[0], x[1]); }},
});

namespace {

// An explicit number keeps its value or is an error; array elements are clamped to the range.
void require_fits(const Tensor& number, DType to) {
  const bool is_signed = to == DType::I32;
  if ((!is_signed && to != DType::U32) || !number.is_literal() || number.fill() != std::floor(number.fill())) return;
  const double least = is_signed ? std::numeric_limits<int32_t>::min() : 0;
  const double most  = is_signed ? std::numeric_limits<int32_t>::max() : std::numeric_limits<uint32_t>::max();
  require(std::isinf(number.fill()) || (number.fill() >= least && number.fill() <= most),
          "the number {} does not fit {}, which goes from {:.0f} to {:.0f}; use i64 or floating-point numbers.",
          number.fill(), name_of(to), least, most);
}

}  // namespace

Tensor convert(const Tensor& x, DType to) {
  if (x.is_weak() && is_float(to)) return x.settled(to);
  if (x.is_weak()) {
    require_fits(x, to);
    return convert(x.settled(DType::F64), to);
  }
  if (x.dtype() == to) return x;
  if (x.is_literal()) return Tensor(Type{to, x.shape()}, at(convert(Array::scalar(x.dtype(), x.fill()), to), 0));
  return apply1(convert_op, {x}, {{dtype, to}});
}

Tensor integer_pow(const Tensor& x, int64_t n) { return elementwise_apply(integer_pow_op, {x}, {{exponent, n}}); }

Tensor select(const Tensor& pred, const Tensor& if_true, const Tensor& if_false) {
  if (all_weak({if_true, if_false}))
    return yielding([=](DType dtype) { return select(pred, if_true.settled(dtype), if_false.settled(dtype)); });
  Tensors branches = promote_together({if_true, if_false});
  Shape   shape =
      broadcast_shapes(pred.shape(), broadcast_shapes(branches[0].shape(), branches[1].shape(), "select"), "select");
  return apply1(select_op,
                {broadcast_to(pred, shape), broadcast_to(branches[0], shape), broadcast_to(branches[1], shape)});
}

const std::vector<const Op*>& math_ops() {
  static const std::vector<const Op*> ops = {
      &abs_op,   &add_op,    &ceil_op, &clamp_op,  &convert_op,       &div_op, &floor_op,      &integer_pow_op,
      &max_op,   &min_op,    &mod_op,  &mul_op,    &neg_op,           &pow_op, &reciprocal_op, &rem_op,
      &round_op, &select_op, &sign_op, &square_op, &stop_gradient_op, &sub_op};
  return ops;
}

}  // namespace braintrace
