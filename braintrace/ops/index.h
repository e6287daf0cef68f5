// SPDX-License-Identifier: Apache-2.0
// Reading, adding and setting at integer positions. An index outside 0 … n-1 is an error when the program runs.
#pragma once

#include "braintrace/ops/families.h"

namespace braintrace {

extern const Op scatter_add_op, scatter_set_op, take_op;

// Rows of x along `axis`; the axes of `indices` replace that axis.
//   take(x : [A,N,C], indices : [K,L], 1) : [A,K,L,C]
Tensor take(const Tensor& x, const Tensor& indices, int64_t axis = 0);
// x with updates added at those rows, and summed at equal indices; updates have the shape of take(x, indices, axis).
Tensor scatter_add(const Tensor& x, const Tensor& indices, const Tensor& updates, int64_t axis = 0);
// The same, but updates replace the rows; for equal indices, the last one is used.
Tensor scatter_set(const Tensor& x, const Tensor& indices, const Tensor& updates, int64_t axis = 0);

// One element per index: y[…, k, …] = x[…, indices[…, k, …], …]; the other axes of x and indices agree.
Tensor take_along_axis(const Tensor& x, const Tensor& indices, int64_t axis);
// x with updates (of the shape of indices) added to those elements, or replacing them.
Tensor scatter_add_along_axis(const Tensor& x, const Tensor& indices, const Tensor& updates, int64_t axis);
Tensor scatter_set_along_axis(const Tensor& x, const Tensor& indices, const Tensor& updates, int64_t axis);

const std::vector<const Op*>& index_ops();

}  // namespace braintrace
