// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/rng.h"

#include <cmath>
#include <numbers>

#include <Random123/philox.h>

namespace braintrace {

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  const r123::Philox4x32::ctr_type c{{counter[0], counter[1], counter[2], counter[3]}};
  const r123::Philox4x32::key_type k{{key[0], key[1]}};
  const auto                       r = r123::Philox4x32{}(c, k);
  return {r[0], r[1], r[2], r[3]};
}

uint32_t Rng::bits() {
  const uint64_t n = count++;
  return philox({static_cast<uint32_t>(n >> 2), static_cast<uint32_t>(n >> 34), 0, 0}, key)[n & 3];
}

double Rng::uniform() {
  const uint64_t high = bits();
  return static_cast<double>((high << 21) ^ (bits() >> 11)) * 0x1p-53;
}

double Rng::normal() {  // Box and Muller 1958
  const double u = 1 - uniform();
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * uniform());
}

int64_t Rng::integer(int64_t below) { return static_cast<int64_t>(uniform() * static_cast<double>(below)); }

}  // namespace braintrace
