// SPDX-License-Identifier: Apache-2.0
#include "braintrace/etp/rules.h"

#include "braintrace/etp/dense.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {

Shape trace_shape(const EtpCall& call, int weight) {
  const auto& rules = *call.op->etp;
  Types       types{call.y};
  if (rules.x >= 0) types.push_back(call.in[rules.x]);
  const Traced t = trace(types, [&](const Tensors& in) -> Tensors {
    const Tensor c = rules.coefficient(call, weight, rules.x >= 0 ? in[1] : Tensor());
    return {zeros(broadcast_shapes(c.shape(), rules.spread(call, weight, in[0]).shape(), "trace"))};
  });
  return t.program.type(t.program.results[0]).shape;
}

Tensor instant(const EtpCall& call, int weight, const Tensor& x, const Tensor& D_f) {
  return expand_dims(call.op->etp->coefficient(call, weight, x), -1) * call.op->etp->spread(call, weight, D_f);
}

Tensor propagate(const EtpCall& call, int weight, const Tensor& D, const Tensor& eps) {
  const Tensor D_trace = call.op->etp->spread(call, weight, D);  // [*trace,S,S]
  if (eps.shape().back() == 1) return squeeze(D_trace, {-1}) * eps;
  return sum(D_trace * expand_dims(eps, -2), Ints{-1});
}

Tensor contract(const EtpCall& call, int weight, const Tensor& ell, const Tensor& eps) {
  return call.op->etp->fold(call, weight, sum(call.op->etp->spread(call, weight, ell) * eps, Ints{-1}));
}

const std::vector<const Op*>& etp_ops() {
  static const std::vector<const Op*> ops = {&matmul_op};
  return ops;
}

}  // namespace braintrace
