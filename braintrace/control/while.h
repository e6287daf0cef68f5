// SPDX-License-Identifier: Apache-2.0
// A loop whose number of steps is determined while it runs.
#pragma once

#include "braintrace/ir/tensor.h"

namespace braintrace {

extern const Op while_op;

struct WhileOptions {
  int64_t max_steps = 0;  // ends the loop after this many steps; 0 = no limit. Reverse mode needs a limit.
};

// carry = body(carry) while cond(carry), a bool scalar, is true.
Tensors while_loop(const std::function<Tensor(const Tensors&)>& cond, const Function& body, const Tensors& init,
                   const WhileOptions& options = {});

const std::vector<const Op*>& while_ops();

}  // namespace braintrace
