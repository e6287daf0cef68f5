// SPDX-License-Identifier: Apache-2.0
// Prints a time loop as one persistent kernel: a team of blocks stays resident for all steps, each block keeps its
// columns of the weights in shared memory, and blocks synchronize only to read columns of other blocks (ownership.h).
//
//   launch per step: load W, h = tanh(h W)   →   one launch: load W; for t: barrier, h[own] = tanh(h W[:, own])
#pragma once

#include "braintrace/codegen/cuda/emit.h"

namespace braintrace::codegen {

struct Persistent {
  std::string text;  // of the kernel
  Launch      launch;
};

// The kernel of time loop `k` in function `f`. Nothing if the step contains other kernels than products and elementwise
// loops, or if its weights do not fit in shared memory.
std::optional<Persistent> persistent(const std::string& name, const Function& f, const Kernel& k, const Target& target,
                                     Precision precision);

}  // namespace braintrace::codegen
