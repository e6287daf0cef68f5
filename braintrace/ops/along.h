// SPDX-License-Identifier: Apache-2.0
// Selecting and adding elements along one axis by an index per element. Indices outside the axis are clamped.
#pragma once

#include "braintrace/ops/families.h"

namespace braintrace {

extern const Op add_along_op, take_along_op;

// y[…, i, …] = x[…, indices[…, i, …], …]; x and indices agree on the other axes.
Tensor take_along(const Tensor& x, const Tensor& indices, int64_t axis);
// y[…, indices[…, i, …], …] += x[…, i, …] on zeros with `size` elements along the axis.
Tensor add_along(const Tensor& x, const Tensor& indices, int64_t axis, int64_t size);

const std::vector<const Op*>& along_ops();

}  // namespace braintrace
