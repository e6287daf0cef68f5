// SPDX-License-Identifier: Apache-2.0
// Normalized exponentials. The largest element is subtracted first, to avoid overflow.
#pragma once

#include "braintrace/ops/reduce.h"

namespace braintrace {

extern const Op log_softmax_op, logsumexp_op, softmax_op;

// ln Σ e^x over the axes.
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
Tensor log_softmax(const Tensor& x, const Axes& axes = -1);
Tensor softmax(const Tensor& x, const Axes& axes = -1);

const std::vector<const Op*>& softmax_ops();

}  // namespace braintrace
