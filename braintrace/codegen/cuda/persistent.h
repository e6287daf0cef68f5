// SPDX-License-Identifier: Apache-2.0
// A time loop as one persistent kernel: a team of blocks stays on the device for all steps, each block with its columns
// of the weights in shared memory, and the blocks meet only where they read each other's columns (ownership.h).
#pragma once

#include "braintrace/codegen/cuda/emit.h"

namespace braintrace::codegen {

struct Persistent {
  std::string text;  // of the kernel
  Launch      launch;
};

// The kernel of a time loop `k` in the function `f`. Nothing where the step has other kernels than products and
// elementwise loops, or its weights do not fit the shared memory of the blocks.
std::optional<Persistent> persistent(const std::string& name, const Function& f, const Kernel& k, const Target& target,
                                     Precision precision);

}  // namespace braintrace::codegen
