// SPDX-License-Identifier: Apache-2.0
// Flushes subnormal numbers to zero on this thread during its lifetime. Decaying traces would otherwise become slower
// and slower, because CPUs take many cycles for subnormals.
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
