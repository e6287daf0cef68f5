// SPDX-License-Identifier: Apache-2.0
// y_gn = Σ_k x_gk W_gkn (+ b_gn)     x : [(B),G,K]   W : [G,K,N]   b : [G,N]   y : [(B),G,N]   D_f : [(B),G,N,S]
//
//   ε_W : [(B),G,K,N,S]   ∂y_gn/∂W_gkn = x_gk         ε_b : [(B),G,N,S]   ∂y_gn/∂b_gn = 1
#include "braintrace/etp/grouped.h"

#include "braintrace/base/rng.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

Types grouped_infer(const Op& op, const Types& in, const Attrs&) {
  const Type &x = in[0], &W = in[1];
  require(W.rank() == 3, "grouped_matmul: the weight must be [G,K,N], got {}; use matmul for one group.", to_string(W));
  require(x.rank() == 2 || x.rank() == 3,
          "grouped_matmul: x has rank {}, expected [G,K] or [B,G,K], got {}; fold leading axes into one.", x.rank(),
          to_string(x));
  const int r = x.rank();
  require(x.shape[r - 2] == W.shape[0] && x.shape[r - 1] == W.shape[1],
          "grouped_matmul: x {} ends in [{},{}], but the weight {} has {} groups of {} inputs.", to_string(x),
          x.shape[r - 2], x.shape[r - 1], to_string(W), W.shape[0], W.shape[1]);
  require_one_dtype(op, in, 1);
  require_bias(op, in, 2, {W.shape[0], W.shape[2]});
  Type y         = x;
  y.shape.back() = W.shape[2];
  return {y};
}

constexpr EtpRules grouped_rules = {
    .primitive   = [](const EtpCall& c) -> std::string_view { return c.y.rank() == 3 ? "etp_gmm" : "etp_gmv"; },
    .weights     = weight_and_bias,
    .coefficient = x_of_product,
    .spread      = spread_over_product,
    .fold        = sum_to_weight,
};

}  // namespace

constinit const Op grouped_matmul_op = composite({
    .name     = "grouped_matmul",
    .doc      = "trainable products of G groups side by side",
    .operands = "x weight bias...",
    .infer    = grouped_infer,
    .expand   = [](const Op&, const Tensors& in, const Attrs&) -> Tensors {
      const int    g = in[0].rank() - 2;
      const Tensor p = dot_general(in[0], in[1], {{g + 1}, {1}, {g}, {0}});  // [G,(B),N]
      const Tensor y = g == 1 ? move_axis(p, 0, 1) : p;
      return {in.size() > 2 ? y + in[2] : y};
    },
    .batch  = [](const BatchArgs& a) -> Tensors { return batch_over_x(a, 2); },
    .depend = [](const DependArgs& a) -> AxisLinks {
      const int n = a.out[0].rank() - 1, g = n - 1;
      if (a.operand == 0) {
        AxisLinks links{{g, g + 1, g, g + 1}};
        if (g == 1) links.push_back({0, 1, 0, 1});
        return links;
      }
      const int out = a.in[a.operand].rank() - 1;
      return {{0, 1, g, g + 1}, {out, out + 1, n, n + 1}};
    },
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      auto r = [&](Shape s) { return Tensor(random_array(rng, {DType::F64, std::move(s)})); };
      return {{{r({2, 3}), r({2, 3, 4})}, {}}, {{r({3, 2, 3}), r({2, 3, 2}), r({2, 2})}, {}}};
    },
    .etp = &grouped_rules,
});

Tensor grouped_matmul(const Tensor& x, const Tensor& weight, const Tensor& bias, const WeightFns& fns) {
  const Tensor W = transformed(weight, fns.weight_fn, "grouped_matmul", "weight_fn"),
               b = transformed(bias, fns.bias_fn, "grouped_matmul", "bias_fn");
  return apply1(grouped_matmul_op, operands(x, {W}, b));
}

}  // namespace braintrace
