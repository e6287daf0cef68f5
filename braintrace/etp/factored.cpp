// SPDX-License-Identifier: Apache-2.0
#include "braintrace/etp/factored.h"

#include "braintrace/ir/builder.h"
#include "braintrace/ops/einsum.h"
#include "braintrace/ops/move.h"

namespace braintrace {

Shape coefficient_shape(const EtpCall& call, int weight) {
  const Traced t =
      trace(call.in, [&](const Tensors& in) -> Tensors { return {call.op->etp->coefficient(call, weight, in)}; });
  return t.program.type(t.program.results[0]).shape;
}

Tensor instants(const EtpCall& call, int weight, const Tensor& coefficients, const Tensor& D_f) {
  const Tensor tails = call.op->etp->spread(call, weight, D_f);  // [*trace,S,K]
  // One letter per axis of the trace along which an operand is not broadcast.
  std::string of_c = "K", of_f, of_trace;
  Shape       c{coefficients.shape()[0]}, f;
  for (int i = 0; i + 1 < coefficients.rank(); ++i) {
    const int64_t in_c = coefficients.shape()[i + 1], in_f = tails.shape()[i];
    const char    axis = static_cast<char>('a' + i);
    if (in_c != 1 || in_f == 1) of_c += axis, c.push_back(in_c);
    if (in_f != 1 || in_c == 1) of_f += axis, f.push_back(in_f);
    of_trace += axis;
  }
  f.insert(f.end(), tails.shape().end() - 2, tails.shape().end());
  return einsum(of_c + "," + of_f + "SK->" + of_trace + "S", {reshape(coefficients, c), reshape(tails, f)});
}

}  // namespace braintrace
