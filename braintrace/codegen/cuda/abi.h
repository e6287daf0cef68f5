// SPDX-License-Identifier: Apache-2.0
// What kernels and whoever launches them know of each other. The text is written once: it is compiled here, and it
// stands at the head of every emitted CUDA file.
#pragma once

#include <cstdint>

namespace braintrace::codegen {

// A macro because the same tokens are needed as a declaration and as text.
#define BRAINTRACE_CUDA_ABI(...) \
  __VA_ARGS__                    \
  inline constexpr char cuda_abi_text[] = #__VA_ARGS__;

// All pointers, and what the tables hold, are addresses of the device.
BRAINTRACE_CUDA_ABI(struct bt_cuda_frame {
  char*              arena;
  const void* const* in;  // constants of the program, then arguments
  void* const*       out;
  const void* const* constants;  // of the schedule
  int32_t*           status;     // 1: an index is outside its axis; kernels after that may compute anything
  uint32_t*          barriers;   // of the teams of a launch: zero before it and after it
};)

#undef BRAINTRACE_CUDA_ABI

}  // namespace braintrace::codegen
