// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/etp/operands.h"
#include "braintrace/ops/sparse.h"

namespace braintrace {

extern const Op sparse_matmul_op;

// y = x W (+ b), trainable, W a sparse matrix with a fixed pattern (csr or coo) whose stored values are the weight.
//   x : [I] or [B,I]   weight : [E], one per stored entry   b : [O]
// Every stored entry learns, even if its value is zero.
Tensor sparse_matmul(const Tensor& x, const Tensor& weight, const SparsePattern& pattern, const Tensor& bias = {},
                     const WeightFns& fns = {});

}  // namespace braintrace
