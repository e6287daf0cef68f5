// SPDX-License-Identifier: Apache-2.0
// Products that sum over axes.
#pragma once

#include "braintrace/ops/families.h"

namespace braintrace {

extern const Op dot_general_op;

// Sums over the paired contract axes, position by position over the paired batch axes.
// Result axes: batch, free axes of lhs, free axes of rhs.
struct DotAxes {
  Ints lhs_contract, rhs_contract, lhs_batch, rhs_batch;
};
Tensor dot_general(const Tensor& lhs, const Tensor& rhs, const DotAxes& axes);

// The plain product x·w over the last axis of x and the one before the last of w (its only one for a vector). It is not
// a trainable operation: w gets the same-step gradient only (see matmul for the one that learns online).
Tensor dot(const Tensor& x, const Tensor& w);

const std::vector<const Op*>& contract_ops();

}  // namespace braintrace
