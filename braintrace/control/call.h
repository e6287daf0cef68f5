// SPDX-License-Identifier: Apache-2.0
// A nested program used as one equation.
#pragma once

#include "braintrace/control/nested.h"

namespace braintrace {

extern const Op call_op;

// f as one named equation; tensors f closes over become operands.
Tensors call(const std::string& name, const Function& f, const Tensors& operands);
// A finished program as one named equation.
Tensors call(const std::string& name, ProgramPtr program, const Tensors& operands);

const std::vector<const Op*>& call_ops();

}  // namespace braintrace
