// SPDX-License-Identifier: Apache-2.0
// Products that sum over axes.
#pragma once

#include "braintrace/ops/families.h"

namespace braintrace {

extern const Op dot_general_op;

// Sums over the paired contract axes for each position of the paired batch axes. Result: batch, free lhs, free rhs
// axes.
struct DotAxes {
  Ints lhs_contract, rhs_contract, lhs_batch, rhs_batch;
};
Tensor dot_general(const Tensor& lhs, const Tensor& rhs, const DotAxes& axes);

// The plain product x·w over the last axis of x and the second-to-last axis of w (the only axis of a vector). It is not
// a trainable operation: w gets only the same-step gradient (with matmul, w learns online).
Tensor dot(const Tensor& x, const Tensor& w);

const std::vector<const Op*>& contract_ops();

}  // namespace braintrace
