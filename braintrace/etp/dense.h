// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/etp/operands.h"

namespace braintrace {

extern const Op matmul_op;

// y = x W (+ b), trainable: W and b learn online.   x : [I] or [B,I]   W : [I,O]   b : [O]
Tensor matmul(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const WeightFns& fns = {});

}  // namespace braintrace
