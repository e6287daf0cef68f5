// SPDX-License-Identifier: Apache-2.0
// NVIDIA's run-time compiler (libnvrtc), and the cache of its output, which shares the folder of the C compiler
// (backends/cpu/code_cache.h). A file is named by a hash of the text, the device capability and the compiler.
#pragma once

#include <string>

namespace braintrace::cuda {

// Machine code for a device of this capability (90 for sm_90). A missing or outdated NVRTC is a UserError that says
// what to install; text that does not compile is an InternalError with the compiler's output.
std::string compiled(const std::string& text, int capability);

// Its path and version, such as "12.9 (/usr/lib/…)", or why it is not available.
struct NvrtcFacts {
  std::string version, path, problem;
};
NvrtcFacts nvrtc_facts();

}  // namespace braintrace::cuda
