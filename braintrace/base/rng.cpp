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

namespace {

// Numbers come in blocks of four; this is the one that holds number n.
std::array<uint32_t, 4> block_of(uint64_t n, const std::array<uint32_t, 2>& key) {
  return philox({static_cast<uint32_t>(n >> 2), static_cast<uint32_t>(n >> 34), 0, 0}, key);
}
double uniform_of(uint64_t high, uint32_t low) { return static_cast<double>((high << 21) ^ (low >> 11)) * 0x1p-53; }
double normal_of(double u, double v) {  // Box and Muller 1958
  return std::sqrt(-2 * std::log(1 - u)) * std::cos(2 * std::numbers::pi * v);
}

}  // namespace

uint32_t Rng::bits() {
  const uint64_t n = count++;
  return block_of(n, key)[n & 3];
}

double Rng::uniform() {
  const uint64_t high = bits();
  return uniform_of(high, bits());
}

double Rng::normal() {
  if (count % 4 == 0) {  // one block has all that is needed
    const auto b = block_of(count, key);
    count += 4;
    return normal_of(uniform_of(b[0], b[1]), uniform_of(b[2], b[3]));
  }
  const double u = uniform();
  return normal_of(u, uniform());
}

int64_t Rng::integer(int64_t below) { return static_cast<int64_t>(uniform() * static_cast<double>(below)); }

}  // namespace braintrace
