// SPDX-License-Identifier: Apache-2.0
// Comparisons and logic. Results are bool; they have no derivative.
#pragma once

#include "braintrace/ops/families.h"

namespace braintrace {

extern const Op equal_op, greater_op, greater_equal_op, less_op, less_equal_op, not_equal_op;

inline Tensor equal(const Tensor& a, const Tensor& b) { return elementwise_apply(equal_op, {a, b}); }
inline Tensor greater(const Tensor& a, const Tensor& b) { return elementwise_apply(greater_op, {a, b}); }
inline Tensor greater_equal(const Tensor& a, const Tensor& b) { return elementwise_apply(greater_equal_op, {a, b}); }
inline Tensor less(const Tensor& a, const Tensor& b) { return elementwise_apply(less_op, {a, b}); }
inline Tensor less_equal(const Tensor& a, const Tensor& b) { return elementwise_apply(less_equal_op, {a, b}); }
inline Tensor not_equal(const Tensor& a, const Tensor& b) { return elementwise_apply(not_equal_op, {a, b}); }

const std::vector<const Op*>& compare_ops();

}  // namespace braintrace
