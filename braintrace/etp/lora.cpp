// SPDX-License-Identifier: Apache-2.0
// y = α x B A (+ b)     x : [(N),I]   B : [I,r]   A : [r,O]   b : [O]   y : [(N),O]   D_f : [(N),O,S]
//
//   ε_B : [(N),I,O,S]   x_i                 fold: α (Σ ε) Aᵀ
//   ε_A : [(N),r,O,S]   α Σ_i x_i B_ir      ε_b : [(N),O,S]   1
//
// D acts on the output axis, which B lacks, so no trace shaped like B can be exact. The trace of B is the one of the
// effective weight α B A; A and α are the same at every step and enter once, in fold.
#include "braintrace/etp/lora.h"

#include "braintrace/base/rng.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

using keys::alpha;
enum : int { b_weight, a_weight, bias_of_lora };

Tensor scaled(const Tensor& t, double factor) { return factor == 1 ? t : t * Tensor(factor); }

Types lora_infer(const Op& op, const Types& in, const Attrs&) {
  const Type &x = in[0], &B = in[1], &A = in[2];
  require(x.rank() == 1 || x.rank() == 2, ErrorKind::Shape,
          "lora_matmul: x has rank {}, expected [I] or [N,I], got {}; fold leading axes into one.", x.rank(),
          to_string(x));
  require(B.rank() == 2 && B.shape[0] == x.shape.back(), ErrorKind::Shape,
          "lora_matmul: x is {}, so B must be [{},r], got {}.", to_string(x), x.shape.back(), to_string(B));
  require(A.rank() == 2 && A.shape[0] == B.shape[1], ErrorKind::Shape,
          "lora_matmul: B is {}, so A must be [{},O], got {}.", to_string(B), B.shape[1], to_string(A));
  require_one_dtype(op, in, 2);
  require_bias(op, in, 3, {A.shape[1]});
  Type y         = x;
  y.shape.back() = A.shape[1];
  return {y};
}

constexpr EtpRules lora_rules = {
    .primitive = [](const EtpCall& c) -> std::string_view { return c.y.rank() == 2 ? "etp_lora_mm" : "etp_lora_mv"; },
    .weights =
        [](const EtpCall& c) {
          std::vector<EtpWeight> w{{"lora_b", 1}, {"lora_a", 2}};
          if (c.in.size() > 3) w.push_back({"bias", 3});
          return w;
        },
    .coefficient = [](const EtpCall& c, int weight, const Tensors& in) -> Tensor {
      if (weight == bias_of_lora) return Tensor(c.y, 1);
      return expand_dims(weight == b_weight ? in[0] : scaled(dot(in[0], in[1]), c.attrs[alpha]), -1);
    },
    .spread = [](const EtpCall& c, int weight, const Tensor& t) -> Tensor {
      return weight == bias_of_lora ? t : expand_dims(t, c.y.rank() - 1);
    },
    .fold = [](const EtpCall& c, int weight, const Tensors& in, const Tensor& t) -> Tensor {
      if (weight != b_weight) return sum_to(t, c.in[weight + 1].shape);
      const Tensor G = sum_to(t, {c.in[1].shape[0], c.y.shape.back()});
      return scaled(dot_general(G, in[2], {{1}, {1}, {}, {}}), c.attrs[alpha]);
    },
};

}  // namespace

constinit const Op lora_matmul_op = composite({
    .name     = "lora_matmul",
    .doc      = "trainable product of low rank, alpha x B A + b",
    .operands = "x lora_b lora_a bias...",
    .infer    = lora_infer,
    .expand   = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      const Tensor y = scaled(dot(dot(in[0], in[1]), in[2]), a[alpha]);
      return {in.size() > 3 ? y + in[3] : y};
    },
    .batch  = [](const BatchArgs& a) -> Tensors { return batch_over_x(a, 1); },
    .depend = [](const DependArgs& a) -> AxisLinks {
      const int last = a.out[0].rank() - 1;
      AxisLinks links;
      if (a.operand == 0 && last == 1) links.push_back({0, 1, 0, 1});
      if (a.operand == 2) links.push_back({1, 2, last, last + 1});
      if (a.operand == 3) links.push_back({0, 1, last, last + 1});
      return links;
    },
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      auto r = [&](Shape s) { return Tensor(random_array(rng, {DType::F64, std::move(s)})); };
      return {{{r({4}), r({4, 2}), r({2, 3})}, {{alpha, 1.0}}},
              {{r({2, 4}), r({4, 2}), r({2, 3}), r({3})}, {{alpha, 0.7}}}};
    },
    .etp = &lora_rules,
});

Tensor lora_matmul(const Tensor& x, const Tensor& B, const Tensor& A, const Tensor& bias, const LoraOptions& o) {
  const Tensor B_hat = transformed(B, o.b_fn, "lora_matmul", "b_fn"),
               A_hat = transformed(A, o.a_fn, "lora_matmul", "a_fn"),
               b     = transformed(bias, o.bias_fn, "lora_matmul", "bias_fn");
  return apply1(lora_matmul_op, operands(x, {B_hat, A_hat}, b), {{alpha, o.alpha}});
}

}  // namespace braintrace
