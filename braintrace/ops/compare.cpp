// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/compare.h"

#include <cmath>

#include "braintrace/ir/builder.h"
#include "braintrace/ops/math.h"

namespace braintrace {

namespace {

// All bits set: the unit of and, the complement under xor.
Tensor ones_like(const Tensor& x) {
  return Tensor(x.type(), x.dtype() == DType::Bool ? 1.0 : x.dtype() == DType::U32 ? 0x1p32 - 1 : -1.0);
}

}  // namespace

// On bools, and bit by bit on integers.
constinit const Op and_op           = elementwise({
              .name     = "and",
              .doc      = "a and b, bit by bit",
              .operands = "lhs rhs",
              .simplify = [](const Op&, const Tensors& in, const Attrs&) -> Tensors {
      for (int i : {0, 1}) {
        if (in[i].is_literal(0)) return {in[i]};
        if (in[i].is_literal(ones_like(in[i]).fill())) return {in[1 - i]};
      }
      return {};
    },
              .code   = {"", "($a & $b)"},
              .scalar = {.integer = [](const int64_t* x) { return x[0] & x[1]; }, .lo = -8, .hi = 8},
});
constinit const Op equal_op         = comparison({
            .name   = "equal",
            .doc    = "a = b",
            .code   = {"($a == $b)", "($a == $b)"},
            .scalar = {.real    = [](const double* x) { return double(x[0] == x[1]); },
                       .integer = [](const int64_t* x) { return int64_t(x[0] == x[1]); }},
});
constinit const Op greater_op       = comparison({
          .name   = "greater",
          .doc    = "a > b",
          .code   = {"($a > $b)", "($a > $b)"},
          .scalar = {.real    = [](const double* x) { return double(x[0] > x[1]); },
                     .integer = [](const int64_t* x) { return int64_t(x[0] > x[1]); }},
});
constinit const Op greater_equal_op = comparison({
    .name   = "greater_equal",
    .doc    = "a ≥ b",
    .code   = {"($a >= $b)", "($a >= $b)"},
    .scalar = {.real    = [](const double* x) { return double(x[0] >= x[1]); },
               .integer = [](const int64_t* x) { return int64_t(x[0] >= x[1]); }},
});
constinit const Op is_finite_op     = predicate({
        .name   = "is_finite",
        .doc    = "neither infinite nor NaN",
        .code   = {"(fabs$f($a) < INFINITY)", "1"},
        .scalar = {.real    = [](const double* x) { return double(std::isfinite(x[0])); },
                   .integer = [](const int64_t*) { return int64_t{1}; }},
});
constinit const Op is_inf_op        = predicate({
           .name   = "is_inf",
           .doc    = "infinite",
           .code   = {"(fabs$f($a) == INFINITY)", "0"},
           .scalar = {.real    = [](const double* x) { return double(std::isinf(x[0])); },
                      .integer = [](const int64_t*) { return int64_t{0}; }},
});
constinit const Op is_nan_op        = predicate({
           .name   = "is_nan",
           .doc    = "not a number",
           .code   = {"($a != $a)", "0"},
           .scalar = {.real    = [](const double* x) { return double(std::isnan(x[0])); },
                      .integer = [](const int64_t*) { return int64_t{0}; }},
});
constinit const Op less_op          = comparison({
             .name   = "less",
             .doc    = "a < b",
             .code   = {"($a < $b)", "($a < $b)"},
             .scalar = {.real    = [](const double* x) { return double(x[0] < x[1]); },
                        .integer = [](const int64_t* x) { return int64_t(x[0] < x[1]); }},
});
constinit const Op less_equal_op    = comparison({
       .name   = "less_equal",
       .doc    = "a ≤ b",
       .code   = {"($a <= $b)", "($a <= $b)"},
       .scalar = {.real    = [](const double* x) { return double(x[0] <= x[1]); },
                  .integer = [](const int64_t* x) { return int64_t(x[0] <= x[1]); }},
});
// y = x xor 11…1, which is 1 - x for a bool
constinit const Op not_op       = elementwise_composite({
          .name  = "not",
          .doc   = "complement, bit by bit",
          .infer = [](const Op& op, const Types& in, const Attrs&) -> Types {
      require(!is_float(in[0].dtype), ErrorKind::DType,
                    "{}: expected integer or bool elements, got {}; convert them first.", op.name, name_of(in[0].dtype));
      return {in[0]};
    },
          .expand = [](const Op&, const Tensors& in, const Attrs&) -> Tensors {
      return {apply1(xor_op, {in[0], ones_like(in[0])})};
    },
          .simplify = [](const Op& op, const Tensors& in, const Attrs&) -> Tensors {
      const auto from = made_by(op, in[0]);
      return from ? from->in : Tensors{};
    },
          .sample = [](const Op&, Rng&) -> std::vector<Sample> {
      return {{{Array::of<bool>({true, false}, {2})}, {}}, {{Array::of<int32_t>({5, -1, 0}, {3})}, {}}};
    },
});
constinit const Op not_equal_op = comparison({
    .name   = "not_equal",
    .doc    = "a ≠ b",
    .code   = {"($a != $b)", "($a != $b)"},
    .scalar = {.real    = [](const double* x) { return double(x[0] != x[1]); },
               .integer = [](const int64_t* x) { return int64_t(x[0] != x[1]); }},
});

constinit const Op or_op  = elementwise({
     .name     = "or",
     .doc      = "a or b, bit by bit",
     .operands = "lhs rhs",
     .simplify = [](const Op&, const Tensors& in, const Attrs&) -> Tensors {
      for (int i : {0, 1}) {
        if (in[i].is_literal(0)) return {in[1 - i]};
        if (in[i].is_literal(ones_like(in[i]).fill())) return {in[i]};
      }
      return {};
    },
     .code   = {"", "($a | $b)"},
     .scalar = {.integer = [](const int64_t* x) { return x[0] | x[1]; }, .lo = -8, .hi = 8},
});
constinit const Op xor_op = elementwise({
    .name     = "xor",
    .doc      = "either a or b but not both, bit by bit",
    .operands = "lhs rhs",
    .simplify = [](const Op&, const Tensors& in, const Attrs&) -> Tensors {
      for (int i : {0, 1})
        if (in[i].is_literal(0)) return {in[1 - i]};
      return {};
    },
    .code   = {"", "($a ^ $b)"},
    .scalar = {.integer = [](const int64_t* x) { return x[0] ^ x[1]; }, .lo = -8, .hi = 8},
});

Tensor logic_apply(const Op& op, Tensors in) {
  for (Tensor& t : in) {
    if (t.is_weak() && t.is_literal()) t = convert(t, DType::Bool);
    require(t.dtype() == DType::Bool, ErrorKind::DType,
            "logical_{}: expected bool elements, got {}.\n  Compare them first, or use bitwise_{} on integers.",
            op.name, to_string(t.type()), op.name);
  }
  return elementwise_apply(op, std::move(in));
}

const std::vector<const Op*>& compare_ops() {
  static const std::vector<const Op*> ops = {&and_op,       &equal_op,  &greater_op, &greater_equal_op, &is_finite_op,
                                             &is_inf_op,    &is_nan_op, &less_op,    &less_equal_op,    &not_op,
                                             &not_equal_op, &or_op,     &xor_op};
  return ops;
}

}  // namespace braintrace
