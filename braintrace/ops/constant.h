// SPDX-License-Identifier: Apache-2.0
// An array as part of a program.
#pragma once

#include "braintrace/ir/builder.h"
#include "braintrace/ir/op.h"

namespace braintrace {

extern const Op constant_op;

// The program with its concrete constants written into it as equations.
Program with_constants_inside(Traced traced);

const std::vector<const Op*>& constant_ops();

}  // namespace braintrace
