// SPDX-License-Identifier: Apache-2.0
// In a file of its own: where both could be inlined, compilers take new and free for a mismatched pair.
#include "tests/codegen/allocations.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> count{0}, bytes{0};

void* counted(size_t n, size_t alignment = alignof(std::max_align_t)) noexcept {
  ++count;
  bytes += static_cast<int64_t>(n);
  void* p = nullptr;  // of n bytes, where aligned_alloc wants a multiple of the alignment: 2 MB for large pages
  return posix_memalign(&p, alignment, n) == 0 ? p : nullptr;
}
void* or_throw(void* p) {
  if (p) return p;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(size_t n) { return or_throw(counted(n)); }
void* operator new(size_t n, const std::nothrow_t&) noexcept { return counted(n); }
void* operator new(size_t n, std::align_val_t a) { return or_throw(counted(n, static_cast<size_t>(a))); }
void  operator delete(void* p) noexcept { std::free(p); }
void  operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void  operator delete(void* p, size_t) noexcept { std::free(p); }
void  operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void  operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }

namespace braintrace::testing_support {

int64_t allocations() { return count; }
int64_t allocated_bytes() { return bytes; }

}  // namespace braintrace::testing_support
