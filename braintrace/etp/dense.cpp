// SPDX-License-Identifier: Apache-2.0
// y = x W (+ b)     x : [(B),I]   W : [I,O]   b : [O]   y : [(B),O]   D_f : [(B),O,S]
//
//   ε_W : [(B),I,O,S]   ∂y_o/∂W_io = x_i            ε_b : [(B),O,S]   ∂y_o/∂b_o = 1
#include "braintrace/etp/dense.h"

#include "braintrace/base/rng.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

Types matmul_infer(const Op& op, const Types& in, const Attrs&) {
  const Type &x = in[0], &W = in[1];
  require(x.rank() == 1 || x.rank() == 2, ErrorKind::Shape,
          "matmul: x has rank {}, expected [I] or [B,I], got {}; fold leading axes into one, or use einsum.", x.rank(),
          to_string(x));
  require(W.rank() == 2 && W.shape[0] == x.shape.back(), ErrorKind::Shape,
          "matmul: x is {}, so the weight must be [{},O], got {}.", to_string(x), x.shape.back(), to_string(W));
  require_one_dtype(op, in, 1);
  require_bias(op, in, 2, {W.shape[1]});
  Type y         = x;
  y.shape.back() = W.shape[1];
  return {y};
}

constexpr EtpRules dense_rules = {
    .primitive   = [](const EtpCall& c) -> std::string_view { return c.y.rank() == 2 ? "etp_mm" : "etp_mv"; },
    .weights     = weight_and_bias,
    .coefficient = x_of_product,
    .spread      = spread_over_product,
    .fold        = sum_to_weight,
};

}  // namespace

constinit const Op matmul_op = composite({
    .name     = "matmul",
    .doc      = "trainable product x W + b",
    .operands = "x weight bias...",
    .infer    = matmul_infer,
    .expand   = [](const Op&, const Tensors& in, const Attrs&) -> Tensors {
      const Tensor y = dot(in[0], in[1]);
      return {in.size() > 2 ? y + in[2] : y};
    },
    .batch  = [](const BatchArgs& a) -> Tensors { return batch_over_x(a, 1); },
    .depend = [](const DependArgs& a) -> AxisLinks {
      const int last = a.out[0].rank() - 1;
      AxisLinks links;
      if (a.operand == 0 && last == 1) links.push_back({0, 1, 0, 1});
      if (a.operand == 1) links.push_back({1, 2, last, last + 1});
      if (a.operand == 2) links.push_back({0, 1, last, last + 1});
      return links;
    },
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      auto r = [&](Shape s) { return Tensor(random_array(rng, {DType::F64, std::move(s)})); };
      return {{{r({3}), r({3, 2})}, {}}, {{r({3}), r({3, 2}), r({2})}, {}}, {{r({4, 3}), r({3, 2}), r({2})}, {}}};
    },
    .etp = &dense_rules,
});

Tensor matmul(const Tensor& x, const Tensor& weight, const Tensor& bias, const WeightFns& fns) {
  const Tensor W = transformed(weight, fns.weight_fn, "matmul", "weight_fn"),
               b = transformed(bias, fns.bias_fn, "matmul", "bias_fn");
  return apply1(matmul_op, operands(x, {W}, b));
}

}  // namespace braintrace
