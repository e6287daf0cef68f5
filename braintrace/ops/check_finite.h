// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/ir/op.h"

namespace braintrace {

extern const Op check_finite_op;

// `x`, once it is known to be finite when the program runs. `when` : i32[2], the call and the step in its window.
Tensor checked_finite(const Tensor& x, const Tensor& when, const std::string& what);

const std::vector<const Op*>& check_ops();

}  // namespace braintrace
