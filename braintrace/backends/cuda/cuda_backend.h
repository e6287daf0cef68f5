// SPDX-License-Identifier: Apache-2.0
// Compiles whole programs for a GPU: emitted as CUDA (codegen/cuda), compiled by NVRTC, run through the driver API. A
// device is opened when the first program is compiled for it, so a process may fork before that.
#pragma once

#include "braintrace/runtime/backend.h"

namespace braintrace {

// "cuda", "cuda:1", … or, for tests, "cuda-emulation", which runs the same text on the CPU, and "cuda-races", which
// also detects missing barriers; null for other names. With BRAINTRACE_CUDA=emulation, all of them are the emulation.
Backend* cuda_backend(std::string_view name);

// Uses `cuda`, or `cpu` if there is no working device; decided when the first program is compiled.
Backend& auto_backend();

}  // namespace braintrace
