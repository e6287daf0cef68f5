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
#include "braintrace/ops/reduce.h"

namespace braintrace {

namespace {

constexpr int bias_weight = 1;

Types matmul_infer(const Op&, const Types& in, const Attrs&) {
  const Type &x = in[0], &W = in[1];
  require(x.rank() == 1 || x.rank() == 2, "matmul: x must be [I] or [B,I], got {}; use einsum for more axes.",
          to_string(x));
  require(W.rank() == 2 && W.shape[0] == x.shape.back(), "matmul: x is {}, so the weight must be [{},O], got {}.",
          to_string(x), x.shape.back(), to_string(W));
  require(x.dtype == W.dtype, "matmul: x is {} and the weight is {}; convert one of them.", to_string(x), to_string(W));
  if (in.size() > 2)
    require(in[2] == Type{W.dtype, {W.shape[1]}}, "matmul: the weight is {}, so the bias must be {}[{}], got {}.",
            to_string(W), name_of(W.dtype), W.shape[1], to_string(in[2]));
  Type y         = x;
  y.shape.back() = W.shape[1];
  return {y};
}

Tensor sum_batch(const EtpCall& call, const Tensor& t) { return call.y.rank() == 2 ? sum(t, Ints{0}) : t; }

constexpr EtpRules rules = {
    .primitive = [](const EtpCall& c) -> std::string_view { return c.y.rank() == 2 ? "etp_mm" : "etp_mv"; },
    .weights =
        [](const EtpCall& c) {
          std::vector<EtpWeight> w{{"weight", 1}};
          if (c.in.size() > 2) w.push_back({"bias", 2});
          return w;
        },
    .coefficient = [](const EtpCall& c, int weight, const Tensor& x) -> Tensor {
      return weight == bias_weight ? Tensor(c.y, 1) : expand_dims(x, -1);
    },
    .spread = [](const EtpCall& c, int weight, const Tensor& t) -> Tensor {
      return weight == bias_weight ? t : expand_dims(t, c.y.rank() - 1);
    },
    .fold = [](const EtpCall& c, int, const Tensor& t) -> Tensor { return sum_batch(c, t); },
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
    .batch = [](const BatchArgs& a) -> Tensors {
      const bool only_x = a.batched[0] && a.in[0].rank() == 2 && !a.batched[1] && (a.in.size() < 3 || !a.batched[2]);
      if (only_x) return apply(a.op, a.in, a.attrs);
      const Tensor x = with_batch_axis(a.in[0], a.batched[0], a.size),
                   W = with_batch_axis(a.in[1], a.batched[1], a.size);
      Tensor y       = dot_general(x, W, {{x.rank() - 1}, {1}, {0}, {0}});
      if (a.in.size() > 2) {
        Tensor b = with_batch_axis(a.in[2], a.batched[2], a.size);
        y        = y + (y.rank() == 3 ? expand_dims(b, 1) : b);
      }
      return {y};
    },
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
      return {{{r({3}), r({3, 2})}, {}}, {{r({4, 3}), r({3, 2}), r({2})}, {}}};
    },
    .etp = &rules,
});

Tensor matmul(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  Tensors in = promote_together({x, weight});
  if (bias.defined()) in.push_back(convert(bias, in[0].dtype()));
  return apply1(matmul_op, std::move(in));
}

}  // namespace braintrace
