// SPDX-License-Identifier: Apache-2.0
// Memory planning by liveness analysis: assigns every buffer to an input, a constant, a result, or an offset in one
// arena. Memory of dead values is reused. An elementwise result, or the stacked output of a loop, aliases an operand
// that dies there.
//
//   kernel 0 writes a; 1 reads a, writes b; 2 reads b, writes c      →      a at 0, b at 64, c at 0
#pragma once

#include "braintrace/codegen/fuse.h"
#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

// Adds buffers and everything that depends on their places to a function with kernels. `constants` : results of
// constant equations, with the indices of their arrays.
void place_buffers(Function& function, const Program& program, const Fused& fused,
                   const std::vector<std::pair<Var, int64_t>>& constants, const Options& options);

}  // namespace braintrace::codegen
