// SPDX-License-Identifier: Apache-2.0
// In a file of its own: where both could be inlined, compilers take new and free for a mismatched pair.
#include "tests/codegen/allocations.h"

#include <cstdlib>
#include <new>

namespace {
thread_local int64_t count = 0;
}

void* operator new(size_t n) {
  ++count;
  if (void* p = std::malloc(n ? n : 1)) return p;
  throw std::bad_alloc();
}
void* operator new(size_t n, const std::nothrow_t&) noexcept {
  ++count;
  return std::malloc(n ? n : 1);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace braintrace::testing_support {

int64_t allocations() { return count; }

}  // namespace braintrace::testing_support
