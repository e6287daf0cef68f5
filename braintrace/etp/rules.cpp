// SPDX-License-Identifier: Apache-2.0
#include "braintrace/etp/rules.h"

#include "braintrace/etp/conv.h"
#include "braintrace/etp/dense.h"
#include "braintrace/etp/einsum.h"
#include "braintrace/etp/element_wise.h"
#include "braintrace/etp/embedding.h"
#include "braintrace/etp/grouped.h"
#include "braintrace/etp/lora.h"
#include "braintrace/etp/sparse.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {

Shape trace_shape(const EtpCall& call, int weight) {
  Types types = call.in;
  types.push_back(call.y);
  const auto&  rules = *call.op->etp;
  const Traced t     = trace(types, [&](const Tensors& in) -> Tensors {
    const Tensors operands(in.begin(), in.end() - 1);
    const Tensor  c = rules.coefficient(call, weight, operands), s = rules.spread(call, weight, in.back());
    return {zeros(broadcast_shapes(c.shape(), s.shape(), "trace"))};
  });
  return t.program.type(t.program.results[0]).shape;
}

Tensor instant(const EtpCall& call, int weight, const Tensors& in, const Tensor& D_f) {
  return expand_dims(call.op->etp->coefficient(call, weight, in), -1) * call.op->etp->spread(call, weight, D_f);
}

Tensor propagate(const EtpCall& call, int weight, const Tensor& D, const Tensor& eps) {
  const Tensor D_trace = call.op->etp->spread(call, weight, D);  // [*trace,S,S]
  if (eps.shape().back() == 1) return squeeze(D_trace, {-1}) * eps;
  return sum(D_trace * expand_dims(eps, -2), Ints{-1});
}

Tensor contract(const EtpCall& call, int weight, const Tensors& in, const Tensor& ell, const Tensor& eps) {
  const Tensor on_trace = sum(call.op->etp->spread(call, weight, ell) * eps, Ints{-1});
  return call.op->etp->fold(call, weight, in, on_trace);
}

Tensor pull_back(const EtpCall& call, int weight, const Tensors& in, const Tensor& c) {
  const auto& rules = *call.op->etp;
  return rules.fold(call, weight, in, rules.coefficient(call, weight, in) * rules.spread(call, weight, c));
}

const std::vector<const Op*>& etp_ops() {
  static const std::vector<const Op*> ops = {&einsum_op,         &element_wise_op, &embedding_op, &etp_conv_op,
                                             &grouped_matmul_op, &lora_matmul_op,  &matmul_op,    &sparse_matmul_op};
  return ops;
}

}  // namespace braintrace
