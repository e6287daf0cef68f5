// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/ir/op.h"

namespace braintrace {

extern const Op check_finite_op;

// Returns `x`; fails when the program runs if x is not finite. `when` : i32[2], the call and the step in its window.
Tensor checked_finite(const Tensor& x, const Tensor& when, const std::string& what);

const std::vector<const Op*>& check_ops();

}  // namespace braintrace
