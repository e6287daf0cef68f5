// SPDX-License-Identifier: Apache-2.0
// Programs run in the interpreter and as CUDA text on a device, and how far apart the results are.
#pragma once

#include "braintrace/backends/cuda/device.h"
#include "tests/codegen/agreement.h"

namespace braintrace::testing_support {

// Emits all jobs as one file, runs each on the device and gives the worst of all. Jobs that need the host are left out.
Worst worst_on_device(cuda::Device& device, const std::vector<Job>& jobs,
                      codegen::Precision precision = codegen::Precision::F32);

// Runs entry `number` of a text. Returns whether an index was outside its axis.
bool run_entry(cuda::Device& device, const codegen::CudaText& text, const cuda::Module& module, size_t number,
               const Arrays& in, Arrays& out);

}  // namespace braintrace::testing_support
