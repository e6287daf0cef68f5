// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/etp/operands.h"

namespace braintrace {

extern const Op grouped_matmul_op;

// y_g = x_g W_g (+ b_g), trainable: G independent products. x : [G,K] or [B,G,K] W : [G,K,N] b : [G,N]
Tensor grouped_matmul(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const WeightFns& fns = {});

}  // namespace braintrace
