// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <unistd.h>

namespace braintrace {

// Bytes of memory that this machine has, or that the container lets its processes have.
inline int64_t physical_memory() {
  static const int64_t bytes = [] {
    int64_t least = int64_t{::sysconf(_SC_PHYS_PAGES)} * int64_t{::sysconf(_SC_PAGESIZE)};
    for (const char* limit : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
      if (int64_t n = 0; std::ifstream(limit) >> n && n > 0) least = std::min(least, n);
    return least;
  }();
  return bytes;
}

}  // namespace braintrace
