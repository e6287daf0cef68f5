// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/etp/operands.h"

namespace braintrace {

extern const Op lora_matmul_op;

struct LoraOptions {
  double   alpha = 1;
  WeightFn b_fn = {}, a_fn = {}, bias_fn = {};
};

// y = α x B A (+ b), trainable: a product of rank r. x : [I] or [N,I] B : [I,r] A : [r,O] b : [O]
Tensor lora_matmul(const Tensor& x, const Tensor& B, const Tensor& A, const Tensor& bias = {},
                   const LoraOptions& options = {});

}  // namespace braintrace
