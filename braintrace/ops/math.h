// SPDX-License-Identifier: Apache-2.0
// Elementwise arithmetic and functions. Operands are promoted to one dtype and broadcast together.
#pragma once

#include "braintrace/ops/families.h"

namespace braintrace {

extern const Op add_op, convert_op, div_op, exp_op, log_op, max_op, mul_op, neg_op, select_op, sub_op, tanh_op;

inline Tensor add(const Tensor& a, const Tensor& b) { return elementwise_apply(add_op, {a, b}); }
inline Tensor div(const Tensor& a, const Tensor& b) { return elementwise_apply(div_op, {a, b}); }
inline Tensor exp(const Tensor& x) { return elementwise_apply(exp_op, {x}); }
inline Tensor log(const Tensor& x) { return elementwise_apply(log_op, {x}); }
inline Tensor maximum(const Tensor& a, const Tensor& b) { return elementwise_apply(max_op, {a, b}); }
inline Tensor mul(const Tensor& a, const Tensor& b) { return elementwise_apply(mul_op, {a, b}); }
inline Tensor neg(const Tensor& x) { return elementwise_apply(neg_op, {x}); }
inline Tensor sub(const Tensor& a, const Tensor& b) { return elementwise_apply(sub_op, {a, b}); }
inline Tensor tanh(const Tensor& x) { return elementwise_apply(tanh_op, {x}); }

Tensor convert(const Tensor& x, DType dtype);
// if_true where pred holds, else if_false.
Tensor select(const Tensor& pred, const Tensor& if_true, const Tensor& if_false);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator-(const Tensor& x) { return neg(x); }

const std::vector<const Op*>& math_ops();

}  // namespace braintrace
