// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers (Random123, Philox 4x32-10): a pure function of key and counter, so results
// do not depend on threads or order. `Rng` is a small sequential view for host code and tests.
#pragma once

#include <array>
#include <cstdint>

namespace braintrace {

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

struct Rng {
  std::array<uint32_t, 2> key{0, 0};
  uint64_t                count = 0;

  explicit Rng(uint64_t seed) : key{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)} {}
  uint32_t bits();                  // 32 uniform bits
  double   uniform();               // [0, 1)
  double   normal();                // mean 0, variance 1
  int64_t  integer(int64_t below);  // 0 … below-1
};

}  // namespace braintrace
