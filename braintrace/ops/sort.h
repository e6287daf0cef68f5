// SPDX-License-Identifier: Apache-2.0
// Sorting along one axis. Sorting is stable; NaN counts as larger than every number. Indices are i32.
#pragma once

#include "braintrace/ops/families.h"

namespace braintrace {

extern const Op sort_op, top_k_op;

struct Sorted {
  Tensor values, indices;
};

Tensor sort(const Tensor& x, int64_t axis = -1, bool descending = false);
Tensor argsort(const Tensor& x, int64_t axis = -1, bool descending = false);
Sorted sort_with_indices(const Tensor& x, int64_t axis = -1, bool descending = false);
// The k largest elements in descending order.
Sorted top_k(const Tensor& x, int64_t k, int64_t axis = -1);

const std::vector<const Op*>& sort_ops();

}  // namespace braintrace
