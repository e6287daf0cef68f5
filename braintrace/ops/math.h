// SPDX-License-Identifier: Apache-2.0
// Elementwise arithmetic, rounding and selection; elementary.h has exponential, trigonometric and related functions.
// Operands are promoted to a common dtype and broadcast together. Integers wrap; integer division by zero returns 0.
#pragma once

#include "braintrace/ops/elementary.h"
#include "braintrace/ops/families.h"

namespace braintrace {

extern const Op abs_op, add_op, ceil_op, clamp_op, convert_op, div_op, floor_op, integer_pow_op, max_op, min_op, mod_op,
    mul_op, neg_op, pow_op, reciprocal_op, rem_op, round_op, select_op, sign_op, square_op, stop_gradient_op, sub_op;

inline Tensor abs(const Tensor& x) { return elementwise_apply(abs_op, {x}); }
inline Tensor add(const Tensor& a, const Tensor& b) { return elementwise_apply(add_op, {a, b}); }
inline Tensor ceil(const Tensor& x) { return elementwise_apply(ceil_op, {x}); }
inline Tensor clamp(const Tensor& x, const Tensor& lo, const Tensor& hi) {
  return elementwise_apply(clamp_op, {x, lo, hi});
}
inline Tensor div(const Tensor& a, const Tensor& b) { return elementwise_apply(div_op, {a, b}); }
inline Tensor floor(const Tensor& x) { return elementwise_apply(floor_op, {x}); }
inline Tensor maximum(const Tensor& a, const Tensor& b) { return elementwise_apply(max_op, {a, b}); }
inline Tensor minimum(const Tensor& a, const Tensor& b) { return elementwise_apply(min_op, {a, b}); }
inline Tensor mod(const Tensor& a, const Tensor& b) { return elementwise_apply(mod_op, {a, b}); }
inline Tensor mul(const Tensor& a, const Tensor& b) { return elementwise_apply(mul_op, {a, b}); }
inline Tensor neg(const Tensor& x) { return elementwise_apply(neg_op, {x}); }
inline Tensor pow(const Tensor& x, const Tensor& exponent) { return elementwise_apply(pow_op, {x, exponent}); }
inline Tensor reciprocal(const Tensor& x) { return elementwise_apply(reciprocal_op, {x}); }
inline Tensor rem(const Tensor& a, const Tensor& b) { return elementwise_apply(rem_op, {a, b}); }
inline Tensor round(const Tensor& x) { return elementwise_apply(round_op, {x}); }
inline Tensor sign(const Tensor& x) { return elementwise_apply(sign_op, {x}); }
inline Tensor square(const Tensor& x) { return elementwise_apply(square_op, {x}); }
// x, but without a derivative.
inline Tensor stop_gradient(const Tensor& x) { return elementwise_apply(stop_gradient_op, {x}); }
inline Tensor sub(const Tensor& a, const Tensor& b) { return elementwise_apply(sub_op, {a, b}); }

Tensor convert(const Tensor& x, DType dtype);
// x to an integer power; the exponent is a static part of the program.
Tensor integer_pow(const Tensor& x, int64_t exponent);
// if_true where pred is true, else if_false.
Tensor select(const Tensor& pred, const Tensor& if_true, const Tensor& if_false);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator%(const Tensor& a, const Tensor& b) { return mod(a, b); }
inline Tensor operator-(const Tensor& x) { return neg(x); }
inline Tensor operator+(const Tensor& x) { return x; }

// The variable refers to a new tensor; other tensors that share the old value keep it.
inline Tensor& operator+=(Tensor& a, const Tensor& b) { return a = a + b; }
inline Tensor& operator-=(Tensor& a, const Tensor& b) { return a = a - b; }
inline Tensor& operator*=(Tensor& a, const Tensor& b) { return a = a * b; }
inline Tensor& operator/=(Tensor& a, const Tensor& b) { return a = a / b; }

const std::vector<const Op*>& math_ops();

}  // namespace braintrace
