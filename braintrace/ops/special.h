// SPDX-License-Identifier: Apache-2.0
// Special functions of floating-point elements: error function, gamma function, logistic function.
#pragma once

#include "braintrace/ops/families.h"

namespace braintrace {

extern const Op digamma_op, erf_op, erf_inv_op, erfc_op, lgamma_op, logit_op, polygamma_op, sigmoid_op, softplus_op;

inline Tensor digamma(const Tensor& x) { return elementwise_apply(digamma_op, {x}); }
inline Tensor erf(const Tensor& x) { return elementwise_apply(erf_op, {x}); }
inline Tensor erf_inv(const Tensor& x) { return elementwise_apply(erf_inv_op, {x}); }
inline Tensor erfc(const Tensor& x) { return elementwise_apply(erfc_op, {x}); }
inline Tensor lgamma(const Tensor& x) { return elementwise_apply(lgamma_op, {x}); }
inline Tensor logit(const Tensor& x) { return elementwise_apply(logit_op, {x}); }
inline Tensor sigmoid(const Tensor& x) { return elementwise_apply(sigmoid_op, {x}); }
inline Tensor softplus(const Tensor& x) { return elementwise_apply(softplus_op, {x}); }

// The derivative of digamma of the given order; order 0 is digamma itself.
Tensor polygamma(int64_t order, const Tensor& x);

const std::vector<const Op*>& special_ops();

}  // namespace braintrace
