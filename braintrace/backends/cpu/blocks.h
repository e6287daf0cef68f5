// SPDX-License-Identifier: Apache-2.0
// A pool of memory blocks for results and arenas: reusing a block is cheaper than faulting in fresh pages.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <vector>

#include "braintrace/base/array.h"
#include "braintrace/base/process_mutex.h"
#include "braintrace/codegen/target.h"

namespace braintrace::cpu {

// Large blocks use huge pages if available: programs access dozens of arrays at once, more small pages than a TLB
// holds.
inline constexpr size_t large_page = size_t{1} << 21;

struct Block {
  explicit Block(size_t bytes)
      : alignment{bytes < large_page ? static_cast<size_t>(codegen::native_target().alignment) : large_page},
        data(static_cast<char*>(::operator new(std::max<size_t>(bytes, 1), alignment))) {
#ifdef MADV_HUGEPAGE
    if (bytes >= large_page) madvise(data, bytes / large_page * large_page, MADV_HUGEPAGE);
#endif
  }
  ~Block() { ::operator delete(data, alignment); }
  Block(const Block&)            = delete;
  Block& operator=(const Block&) = delete;

  std::align_val_t alignment;
  char*            data;
};

class Blocks : public std::enable_shared_from_this<Blocks> {
 public:
  std::unique_ptr<Block> take(size_t bytes) {
    std::lock_guard lock(mutex_);
    auto&           free = free_[bytes];
    if (free.empty()) return std::make_unique<Block>(bytes);
    auto block = std::move(free.back());
    free.pop_back();
    return block;
  }
  void give_back(size_t bytes, std::unique_ptr<Block> block) {
    std::lock_guard lock(mutex_);
    auto&           free = free_[bytes];
    if (free.size() < kept) free.push_back(std::move(block));
  }
  Array array(const Type& type) {
    const size_t          bytes = static_cast<size_t>(type.bytes());
    Block*                block = take(bytes).release();
    std::shared_ptr<void> owner(block->data, [self = shared_from_this(), block, bytes](void*) {
      self->give_back(bytes, std::unique_ptr<Block>(block));
    });
    return Array::adopt(type, std::move(owner));
  }

 private:
  static constexpr size_t                               kept = 4;  // per size
  ProcessMutex                                          mutex_;
  std::map<size_t, std::vector<std::unique_ptr<Block>>> free_;
};

}  // namespace braintrace::cpu
