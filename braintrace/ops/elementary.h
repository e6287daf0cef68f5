// SPDX-License-Identifier: Apache-2.0
// Elementary functions of floating-point elements: exponentials, logarithms, roots, trigonometric and hyperbolic.
#pragma once

#include "braintrace/ops/families.h"

namespace braintrace {

extern const Op acos_op, acosh_op, asin_op, asinh_op, atan_op, atan2_op, atanh_op, cbrt_op, cos_op, cosh_op, exp_op,
    exp2_op, expm1_op, log_op, log1p_op, log2_op, rsqrt_op, sin_op, sinh_op, sqrt_op, tan_op, tanh_op;

inline Tensor acos(const Tensor& x) { return elementwise_apply(acos_op, {x}); }
inline Tensor acosh(const Tensor& x) { return elementwise_apply(acosh_op, {x}); }
inline Tensor asin(const Tensor& x) { return elementwise_apply(asin_op, {x}); }
inline Tensor asinh(const Tensor& x) { return elementwise_apply(asinh_op, {x}); }
inline Tensor atan(const Tensor& x) { return elementwise_apply(atan_op, {x}); }
// The angle of the point (x, y).
inline Tensor atan2(const Tensor& y, const Tensor& x) { return elementwise_apply(atan2_op, {y, x}); }
inline Tensor atanh(const Tensor& x) { return elementwise_apply(atanh_op, {x}); }
inline Tensor cbrt(const Tensor& x) { return elementwise_apply(cbrt_op, {x}); }
inline Tensor cos(const Tensor& x) { return elementwise_apply(cos_op, {x}); }
inline Tensor cosh(const Tensor& x) { return elementwise_apply(cosh_op, {x}); }
inline Tensor exp(const Tensor& x) { return elementwise_apply(exp_op, {x}); }
inline Tensor exp2(const Tensor& x) { return elementwise_apply(exp2_op, {x}); }
inline Tensor expm1(const Tensor& x) { return elementwise_apply(expm1_op, {x}); }
inline Tensor log(const Tensor& x) { return elementwise_apply(log_op, {x}); }
inline Tensor log1p(const Tensor& x) { return elementwise_apply(log1p_op, {x}); }
inline Tensor log2(const Tensor& x) { return elementwise_apply(log2_op, {x}); }
inline Tensor rsqrt(const Tensor& x) { return elementwise_apply(rsqrt_op, {x}); }
inline Tensor sin(const Tensor& x) { return elementwise_apply(sin_op, {x}); }
inline Tensor sinh(const Tensor& x) { return elementwise_apply(sinh_op, {x}); }
inline Tensor sqrt(const Tensor& x) { return elementwise_apply(sqrt_op, {x}); }
inline Tensor tan(const Tensor& x) { return elementwise_apply(tan_op, {x}); }
inline Tensor tanh(const Tensor& x) { return elementwise_apply(tanh_op, {x}); }

const std::vector<const Op*>& elementary_ops();

}  // namespace braintrace
