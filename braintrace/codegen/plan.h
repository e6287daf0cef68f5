// SPDX-License-Identifier: Apache-2.0
// Where every buffer lies: an input, a constant, a result, or a place in one arena. Places are used again when their
// value is no longer needed; an elementwise result takes the place of an operand that ends there, and so does what a
// loop stacks row by row.
#pragma once

#include "braintrace/codegen/fuse.h"
#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

// Gives the function, which has its kernels, buffers and what follows from their places. `constants` : values of
// constant equations, with their numbers.
void place_buffers(Function& function, const Program& program, const Fused& fused,
                   const std::vector<std::pair<Var, int64_t>>& constants, const Options& options);

}  // namespace braintrace::codegen
