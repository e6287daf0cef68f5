// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unistd.h>

namespace braintrace {

// Bytes of memory that this machine has.
inline int64_t physical_memory() {
  static const int64_t bytes = int64_t{::sysconf(_SC_PHYS_PAGES)} * int64_t{::sysconf(_SC_PAGESIZE)};
  return bytes;
}

}  // namespace braintrace
