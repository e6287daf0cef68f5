// SPDX-License-Identifier: Apache-2.0
// Activation functions; sigmoid, softplus and logit are in special.h, tanh in elementary.h.
#pragma once

#include "braintrace/ops/keys.h"
#include "braintrace/ops/special.h"

namespace braintrace {

extern const Op celu_op, elu_op, gelu_op, hard_sigmoid_op, hard_silu_op, hard_tanh_op, leaky_relu_op, log_sigmoid_op,
    relu_op, relu6_op, selu_op, silu_op;

inline Tensor celu(const Tensor& x, double alpha = 1) {
  return elementwise_apply(celu_op, {x}, {{keys::alpha, alpha}});
}
inline Tensor elu(const Tensor& x, double alpha = 1) { return elementwise_apply(elu_op, {x}, {{keys::alpha, alpha}}); }
// x Φ(x) with the normal distribution function Φ, or its usual approximation by tanh.
inline Tensor gelu(const Tensor& x, bool approximate = false) {
  return elementwise_apply(gelu_op, {x}, {{keys::approximate, approximate}});
}
inline Tensor hard_sigmoid(const Tensor& x) { return elementwise_apply(hard_sigmoid_op, {x}); }
inline Tensor hard_silu(const Tensor& x) { return elementwise_apply(hard_silu_op, {x}); }
inline Tensor hard_tanh(const Tensor& x) { return elementwise_apply(hard_tanh_op, {x}); }
inline Tensor leaky_relu(const Tensor& x, double alpha = 0.01) {
  return elementwise_apply(leaky_relu_op, {x}, {{keys::alpha, alpha}});
}
inline Tensor log_sigmoid(const Tensor& x) { return elementwise_apply(log_sigmoid_op, {x}); }
inline Tensor relu(const Tensor& x) { return elementwise_apply(relu_op, {x}); }
inline Tensor relu6(const Tensor& x) { return elementwise_apply(relu6_op, {x}); }
inline Tensor selu(const Tensor& x) { return elementwise_apply(selu_op, {x}); }
inline Tensor silu(const Tensor& x) { return elementwise_apply(silu_op, {x}); }

const std::vector<const Op*>& activation_ops();

}  // namespace braintrace
