// SPDX-License-Identifier: Apache-2.0
// Whole programs on a GPU: emitted as CUDA (codegen/cuda), compiled by NVRTC, run through the driver. A device is
// opened when the first program is compiled for it: a process that forks before that loses nothing.
#pragma once

#include "braintrace/runtime/backend.h"

namespace braintrace {

// "cuda", "cuda:1", … or, for tests, "cuda-emulation", which runs the same text on the processor, and "cuda-races",
// which looks for missing barriers as well; null for other names. With BRAINTRACE_CUDA=emulation all of them are the
// emulation.
Backend* cuda_backend(std::string_view name);

// What `cuda` and, where there is no device that works, `cpu` compile: that is found out when the first program is.
Backend& auto_backend();

}  // namespace braintrace
