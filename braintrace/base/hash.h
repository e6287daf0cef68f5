// SPDX-License-Identifier: Apache-2.0
// Combines hash values; stable only within a process.
#pragma once

#include <cstddef>

namespace braintrace {

inline void hash_add(size_t& seed, size_t value) { seed ^= value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2); }

}  // namespace braintrace
