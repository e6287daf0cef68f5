// SPDX-License-Identifier: Apache-2.0
// Conditional execution.
#pragma once

#include "braintrace/ir/tensor.h"

namespace braintrace {

extern const Op cond_op;

// if_true(operands) if the scalar pred is true, else if_false(operands). Only the chosen branch runs, except under vmap
// over pred. Both may close over outer tensors and must return the same types.
Tensors cond(const Tensor& pred, const Function& if_true, const Function& if_false, const Tensors& operands = {});

// branches[index](operands); index is clamped to the number of branches.
Tensors switch_(const Tensor& index, const std::vector<Function>& branches, const Tensors& operands = {});

const std::vector<const Op*>& cond_ops();

}  // namespace braintrace
