// SPDX-License-Identifier: Apache-2.0
// Program → program, same values.
#pragma once

#include "braintrace/ir/program.h"

namespace braintrace {

// Removes equations whose results are not used, and from loops and conditionals the results and operands that are not.
Program dce(Program program);
// Joins equations that compute the same thing.
Program cse(const Program& program);
// Algebra on literals (x·1, x+0, reshape to the same shape, select on a known bool, …) and folding of literal
// operands, then cse and dce. Nested programs are simplified too. Idempotent.
Program simplify(const Program& program);

}  // namespace braintrace
