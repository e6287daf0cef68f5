// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/math.h"

#include <cmath>

#include "braintrace/ops/compare.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

constexpr Key<DType> dtype{"dtype"};

}  // namespace

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
    .scalar = {.real = [](const double* x) { return x[0] + x[1]; },
               .integer =
                   [](const int64_t* x) {
                     return static_cast<int64_t>(static_cast<uint64_t>(x[0]) + static_cast<uint64_t>(x[1]));
                   }},
});

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
    .scalar = {.real = [](const double* x) { return x[0] / x[1]; },
               .integer =
                   [](const int64_t* x) {
                     return x[1] == 0    ? 0
                            : x[1] == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(x[0]))
                                         : x[0] / x[1];
                   },
               .partial = {[](const Tensors& x, const Tensor&) { return 1 / x[1]; },
                           [](const Tensors& x, const Tensor& y) { return -y / x[1]; }},
               .lo      = 0.5},
});

// y = e^x
constinit const Op exp_op = elementwise({
    .name   = "exp",
    .doc    = "e to the power x",
    .scalar = {.real    = [](const double* x) { return std::exp(x[0]); },
               .partial = {[](const Tensors&, const Tensor& y) { return y; }}},
});

constinit const Op log_op = elementwise({
    .name   = "log",
    .doc    = "natural logarithm",
    .scalar = {.real    = [](const double* x) { return std::log(x[0]); },
               .partial = {[](const Tensors& x, const Tensor&) { return 1 / x[0]; }},
               .lo      = 0.2},
});

// NaN in either operand gives NaN; at a tie each operand gets half of the derivative.
constinit const Op max_op = elementwise({
    .name     = "max",
    .doc      = "the larger of a and b",
    .operands = "lhs rhs",
    .scalar   = {.real    = [](const double* x) { return std::isnan(x[0]) || x[0] > x[1] ? x[0] : x[1]; },
                 .integer = [](const int64_t* x) { return std::max(x[0], x[1]); },
                 .partial = {[](const Tensors& x, const Tensor&) {
                             return select(equal(x[0], x[1]), 0.5, convert(greater(x[0], x[1]), x[0].dtype()));
                           },
                             [](const Tensors& x, const Tensor&) {
                             return select(equal(x[0], x[1]), 0.5, convert(greater(x[1], x[0]), x[0].dtype()));
                           }}},
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
      return {};
    },
    .scalar = {.real = [](const double* x) { return x[0] * x[1]; },
               .integer =
                   [](const int64_t* x) {
                     return static_cast<int64_t>(static_cast<uint64_t>(x[0]) * static_cast<uint64_t>(x[1]));
                   }},
});

constinit const Op neg_op = elementwise({
    .name      = "neg",
    .doc       = "-x",
    .linearity = Linearity::Joint,
    .transpose = [](const TransposeArgs& a) -> Tensors { return {-a.ct[0]}; },
    .scalar    = {.real    = [](const double* x) { return -x[0]; },
                  .integer = [](const int64_t* x) { return static_cast<int64_t>(0 - static_cast<uint64_t>(x[0])); }},
});

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
    .scalar = {.real = [](const double* x) { return x[0] - x[1]; },
               .integer =
                   [](const int64_t* x) {
                     return static_cast<int64_t>(static_cast<uint64_t>(x[0]) - static_cast<uint64_t>(x[1]));
                   }},
});

// dy = (1 - y²) dx
constinit const Op tanh_op = elementwise({
    .name   = "tanh",
    .doc    = "hyperbolic tangent",
    .scalar = {.real    = [](const double* x) { return std::tanh(x[0]); },
               .partial = {[](const Tensors&, const Tensor& y) { return 1 - y * y; }}},
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
    .simplify  = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      if (in[0].dtype() == a[dtype]) return {in[0]};
      if (in[0].is_literal()) return {convert(in[0], a[dtype])};
      return {};
    },
    .depend = elementwise_depend,
    .sample = [](const Op&, Rng&) -> std::vector<Sample> {
      return {{{Array::of<double>({0.5, -1.25, 3}, {3})}, {{dtype, DType::F64}}},
              {{Array::of<int32_t>({5, -1, 3}, {3})}, {{dtype, DType::F64}}},
              {{Array::of<double>({0.5, -1.25, 3}, {3})}, {{dtype, DType::I32}}}};
    },
};

// y = if_true where pred, else if_false
constinit const Op select_op = {
    .name     = "select",
    .doc      = "elementwise choice by a bool",
    .operands = "pred if_true if_false",
    .infer    = [](const Op& op, const Types& in, const Attrs&) -> Types {
      require(in[0] == Type{DType::Bool, in[1].shape} && in[1] == in[2],
                 "{}: expected a bool pred and two branches of one type and shape, got {}, {} and {}.", op.name,
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
      return {};
    },
    .depend = elementwise_depend,
    .sample = [](const Op&, Rng&) -> std::vector<Sample> {
      return {{{Array::of<bool>({true, false, true}, {3}), Array::of<double>({1, 2, 3}, {3}),
                Array::of<double>({-1, 0.5, 4}, {3})},
               {}}};
    },
};

Tensor convert(const Tensor& x, DType to) {
  if (x.dtype() == to) return x;
  if (x.is_literal()) return Tensor(Type{to, x.shape()}, at(convert(Array::scalar(x.dtype(), x.fill()), to), 0));
  return apply1(convert_op, {x}, {{dtype, to}});
}

Tensor select(const Tensor& pred, const Tensor& if_true, const Tensor& if_false) {
  Tensors branches = promote_together({if_true, if_false});
  Shape   shape =
      broadcast_shapes(pred.shape(), broadcast_shapes(branches[0].shape(), branches[1].shape(), "select"), "select");
  return apply1(select_op,
                {broadcast_to(pred, shape), broadcast_to(branches[0], shape), broadcast_to(branches[1], shape)});
}

const std::vector<const Op*>& math_ops() {
  static const std::vector<const Op*> ops = {&add_op, &convert_op, &div_op,    &exp_op, &log_op, &max_op,
                                             &mul_op, &neg_op,     &select_op, &sub_op, &tanh_op};
  return ops;
}

}  // namespace braintrace
