// SPDX-License-Identifier: Apache-2.0
// Cumulative reductions along one axis: element i of the result reduces elements 0 … i, or i … n-1 in reverse. cumsum
// and cumprod count bools as i32.
#pragma once

#include "braintrace/ops/families.h"

namespace braintrace {

extern const Op cummax_op, cummin_op, cumprod_op, cumsum_op;

Tensor cummax(const Tensor& x, int64_t axis, bool reverse = false);
Tensor cummin(const Tensor& x, int64_t axis, bool reverse = false);
Tensor cumprod(const Tensor& x, int64_t axis, bool reverse = false);
Tensor cumsum(const Tensor& x, int64_t axis, bool reverse = false);

const std::vector<const Op*>& cumulative_ops();

}  // namespace braintrace
