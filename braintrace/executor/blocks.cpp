// SPDX-License-Identifier: Apache-2.0
#include "braintrace/executor/blocks.h"

#include <cmath>

#include "braintrace/control/scan.h"
#include "braintrace/ops/einsum.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

Tensor times(const Tensor& A, const Tensor& B) {
  return A.shape().back() == 1 ? A * B : einsum("...ab,...bc->...ac", {A, B});
}
Tensor applied(const Tensor& D, const Tensor& v) { return sum(D * expand_dims(v, -2), Ints{-1}); }
Tensor transposed(const Tensor& D, const Tensor& lambda) { return sum(D * expand_dims(lambda, -1), Ints{-2}); }

WindowProducts window_products(const Tensor& D, int64_t K, const Type& block, double kappa) {
  const Tensor I = broadcast_to(eye(block.shape.back(), block.dtype), block.shape);
  if (!D.defined()) {
    Tensors powers;  // κ^{K-t}
    for (int64_t t = 1; t <= K; ++t) powers.push_back(std::pow(kappa, static_cast<double>(K - t)) * I);
    return {{{}, expand_dims(I, 0)}, {{}, stack(powers, 0)}};
  }
  // From the last step to the first; the carry at step t is P_{t→K}, R_t and κ^{K-t}.
  const auto body = [&](const Tensors& now, const Tensors& at) -> ScanResult {
    const Tensor& D_t = at[0];
    ScanResult    out{{times(now[0], D_t)}, {now[0]}};
    if (kappa > 0) {
      const Tensor R = now[1] + now[2] * I;
      out.carry      = {out.carry[0], times(R, D_t), kappa * now[2]};
      out.ys.push_back(R);
    }
    return out;
  };
  Tensors carry{I};
  if (kappa > 0) carry = {I, Tensor(block, 0), Tensor(Type{block.dtype, {}}, 1)};
  const ScanResult run = scan(body, carry, {D}, {.length = K, .reverse = true});
  WindowProducts   out{{run.carry[0], run.ys[0]}, {}};
  if (kappa > 0) out.filtered = {run.carry[1], run.ys[1]};
  return out;
}

}  // namespace braintrace
