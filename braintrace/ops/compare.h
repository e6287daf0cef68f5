// SPDX-License-Identifier: Apache-2.0
// Comparisons, tests for special values, and logic. They have no derivative.
#pragma once

#include "braintrace/ops/families.h"

namespace braintrace {

extern const Op and_op, equal_op, greater_op, greater_equal_op, is_finite_op, is_inf_op, is_nan_op, less_op,
    less_equal_op, not_op, not_equal_op, or_op, xor_op;

inline Tensor equal(const Tensor& a, const Tensor& b) { return elementwise_apply(equal_op, {a, b}); }
inline Tensor greater(const Tensor& a, const Tensor& b) { return elementwise_apply(greater_op, {a, b}); }
inline Tensor greater_equal(const Tensor& a, const Tensor& b) { return elementwise_apply(greater_equal_op, {a, b}); }
inline Tensor is_finite(const Tensor& x) { return elementwise_apply(is_finite_op, {x}); }
inline Tensor is_inf(const Tensor& x) { return elementwise_apply(is_inf_op, {x}); }
inline Tensor is_nan(const Tensor& x) { return elementwise_apply(is_nan_op, {x}); }
inline Tensor less(const Tensor& a, const Tensor& b) { return elementwise_apply(less_op, {a, b}); }
inline Tensor less_equal(const Tensor& a, const Tensor& b) { return elementwise_apply(less_equal_op, {a, b}); }
inline Tensor not_equal(const Tensor& a, const Tensor& b) { return elementwise_apply(not_equal_op, {a, b}); }

// Elementwise, as bool tensors.
inline Tensor operator==(const Tensor& a, const Tensor& b) { return equal(a, b); }
inline Tensor operator!=(const Tensor& a, const Tensor& b) { return not_equal(a, b); }
inline Tensor operator<(const Tensor& a, const Tensor& b) { return less(a, b); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return less_equal(a, b); }
inline Tensor operator>(const Tensor& a, const Tensor& b) { return greater(a, b); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return greater_equal(a, b); }

// On bools, and bitwise on integers.
inline Tensor bitwise_and(const Tensor& a, const Tensor& b) { return elementwise_apply(and_op, {a, b}); }
inline Tensor bitwise_not(const Tensor& x) { return elementwise_apply(not_op, {x}); }
inline Tensor bitwise_or(const Tensor& a, const Tensor& b) { return elementwise_apply(or_op, {a, b}); }
inline Tensor bitwise_xor(const Tensor& a, const Tensor& b) { return elementwise_apply(xor_op, {a, b}); }
inline Tensor operator&(const Tensor& a, const Tensor& b) { return bitwise_and(a, b); }
inline Tensor operator~(const Tensor& x) { return bitwise_not(x); }
inline Tensor operator|(const Tensor& a, const Tensor& b) { return bitwise_or(a, b); }
inline Tensor operator^(const Tensor& a, const Tensor& b) { return bitwise_xor(a, b); }

// On bools; other element types are an error.
Tensor        logic_apply(const Op& op, Tensors in);
inline Tensor logical_and(const Tensor& a, const Tensor& b) { return logic_apply(and_op, {a, b}); }
inline Tensor logical_not(const Tensor& x) { return logic_apply(not_op, {x}); }
inline Tensor logical_or(const Tensor& a, const Tensor& b) { return logic_apply(or_op, {a, b}); }
inline Tensor logical_xor(const Tensor& a, const Tensor& b) { return logic_apply(xor_op, {a, b}); }

const std::vector<const Op*>& compare_ops();

}  // namespace braintrace
