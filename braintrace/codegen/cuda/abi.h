// SPDX-License-Identifier: Apache-2.0
// The ABI between CUDA kernels and the code that launches them. It is defined once: the declarations are compiled here,
// and their text is emitted at the top of every CUDA file.
#pragma once

#include <cstdint>

namespace braintrace::codegen {

// A macro, because we need the same tokens as declarations and as text.
#define BRAINTRACE_CUDA_ABI(...) \
  __VA_ARGS__                    \
  inline constexpr char cuda_abi_text[] = #__VA_ARGS__;

// All pointers, and the pointers in the tables, are device addresses.
BRAINTRACE_CUDA_ABI(struct bt_cuda_frame {
  char*              arena;
  const void* const* in;  // constants of the program, then arguments
  void* const*       out;
  const void* const* constants;  // of the schedule
  int32_t*           status;     // 1: an index was out of range, and later kernels may compute garbage
  uint32_t*          barriers;   // one per team of a launch; zero before and after it
};)

#undef BRAINTRACE_CUDA_ABI

}  // namespace braintrace::codegen
