// SPDX-License-Identifier: Apache-2.0
// Watching a step for values that are not finite: every input, state and trace, and the result of every equation. What
// is found first stops the run with the call, the step, the equation and the states it goes into.
#pragma once

#include "braintrace/compiler/graph.h"
#include "braintrace/ops/check_finite.h"

namespace braintrace {

// Text for the inputs of a step and for the results of its equations.
std::string describe_input(const ModuleInfo& info, size_t input);
std::string describe_equation(const ModuleInfo& info, size_t eqn);

}  // namespace braintrace
