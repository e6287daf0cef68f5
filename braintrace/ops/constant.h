// SPDX-License-Identifier: Apache-2.0
// A constant array in a program.
#pragma once

#include "braintrace/ir/builder.h"
#include "braintrace/ir/op.h"

namespace braintrace {

extern const Op constant_op;

// Inlines the program's concrete constants as equations.
Program with_constants_inside(Traced traced);

const std::vector<const Op*>& constant_ops();

}  // namespace braintrace
