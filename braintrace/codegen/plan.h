// SPDX-License-Identifier: Apache-2.0
// Memory planning by liveness: where every buffer lies, an input, a constant, a result, or a place in one arena. Places
// are used again when their value is dead; an elementwise result aliases an operand that ends there, and so does what a
// loop stacks row by row.
//
//   kernel 0 writes a; 1 reads a, writes b; 2 reads b, writes c      →      a at 0, b at 64, c at 0
#pragma once

#include "braintrace/codegen/fuse.h"
#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

// Gives the function, which has its kernels, buffers and what follows from their places. `constants` : values of
// constant equations, with their numbers.
void place_buffers(Function& function, const Program& program, const Fused& fused,
                   const std::vector<std::pair<Var, int64_t>>& constants, const Options& options);

}  // namespace braintrace::codegen
