// SPDX-License-Identifier: Apache-2.0
// Choice between programs.
#pragma once

#include "braintrace/control/nested.h"

namespace braintrace {

extern const Op cond_op;

// if_true(operands) where the scalar pred holds, else if_false(operands). Only the chosen one runs, except under vmap
// over pred. Both may close over outer tensors and must return the same types.
Tensors cond(const Tensor& pred, const Function& if_true, const Function& if_false, const Tensors& operands = {});

// branches[index](operands); index is clamped to the branches there are.
Tensors switch_(const Tensor& index, const std::vector<Function>& branches, const Tensors& operands = {});

const std::vector<const Op*>& cond_ops();

}  // namespace braintrace
