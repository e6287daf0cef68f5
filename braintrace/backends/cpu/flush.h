// SPDX-License-Identifier: Apache-2.0
// Numbers too small to be normal count as zero while this lives, on this thread: traces that fade would else become
// slower and slower, as processors take many cycles for such numbers.
#pragma once

#include <cstdint>

namespace braintrace::cpu {

class FlushSubnormals {
 public:
#if defined(__SSE__)
  FlushSubnormals() : before_(__builtin_ia32_stmxcsr()) { __builtin_ia32_ldmxcsr(before_ | 0x8040); }
  ~FlushSubnormals() { __builtin_ia32_ldmxcsr(before_); }

 private:
  unsigned before_;
#elif defined(__aarch64__)
  FlushSubnormals() {
    __asm__ volatile("mrs %0, fpcr" : "=r"(before_));
    __asm__ volatile("msr fpcr, %0" : : "r"(before_ | (uint64_t{1} << 24)));
  }
  ~FlushSubnormals() { __asm__ volatile("msr fpcr, %0" : : "r"(before_)); }

 private:
  uint64_t before_;
#else
  FlushSubnormals() {}
#endif

 public:
  FlushSubnormals(const FlushSubnormals&)            = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;
};

}  // namespace braintrace::cpu
