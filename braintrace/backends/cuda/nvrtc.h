// SPDX-License-Identifier: Apache-2.0
// NVIDIA's compiler of CUDA text at run time (libnvrtc), and the files it made before, which are kept with those of the
// C compiler (backends/cpu/code_cache.h). A file is named by a hash of the text, the kind of device and the compiler.
#pragma once

#include <string>

namespace braintrace::cuda {

// Machine code for a device of this capability (90 for sm_90). A missing or too old NVRTC is a UserError that says what
// to install; a text that does not compile is an InternalError with the compiler's words.
std::string compiled(const std::string& text, int capability);

// Where it is and its version, such as "12.9 (/usr/lib/…)"; or why there is none.
struct NvrtcFacts {
  std::string version, path, problem;
};
NvrtcFacts nvrtc_facts();

}  // namespace braintrace::cuda
