// SPDX-License-Identifier: Apache-2.0
// Checks every input, state, trace and equation result of a step for non-finite values. The first one found stops the
// run with an error that names the call, the step, the equation and the states it reaches.
#pragma once

#include "braintrace/compiler/graph.h"
#include "braintrace/ops/check_finite.h"

namespace braintrace {

// Descriptions of the step's inputs and equations for error messages.
std::string describe_input(const ModuleInfo& info, size_t input);
std::string describe_equation(const ModuleInfo& info, size_t eqn);

}  // namespace braintrace
