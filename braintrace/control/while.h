// SPDX-License-Identifier: Apache-2.0
// A loop whose number of steps is found while it runs.
#pragma once

#include "braintrace/control/nested.h"

namespace braintrace {

extern const Op while_op;

struct WhileOptions {
  int64_t max_steps = 0;  // ends the loop after so many steps; 0 = no bound. Reverse mode needs a bound.
};

// carry = body(carry) as long as cond(carry), a bool scalar, holds.
Tensors while_loop(const std::function<Tensor(const Tensors&)>& cond, const Function& body, const Tensors& init,
                   const WhileOptions& options = {});

const std::vector<const Op*>& while_ops();

}  // namespace braintrace
