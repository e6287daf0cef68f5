// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/target.h"

#include <algorithm>
#include <bit>

namespace braintrace::codegen {

int64_t Target::row_blocks(int64_t rows, int64_t elements) const {
  const int64_t worth = std::min(elements / (shared_elements * 3 / 4), rows / 32);
  const auto    power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(worth, 1))));
  return std::clamp(power, least_blocks, most_blocks);
}

const Target& native_target() {
  static constexpr Target target{.name = "native"};
  return target;
}

const Target& portable_target() {
  static constexpr Target target{
      .name = "portable", .has_host = false, .threads = false, .alignment = 8, .packed_bytes = 0};
  return target;
}

// Blocks keep weights in shared memory, next to partial sums. In a time loop all blocks of a team synchronize
// repeatedly, so only what later steps depend on is computed there.
Target cuda_target(int64_t processors, int64_t shared_bytes) {
  constexpr int64_t any_number = int64_t{1} << 40, partial_sums = 28 << 10;
  Target            t;
  t.name           = "cuda";
  t.device         = Device::Cuda;
  t.in_turn        = false;
  t.alignment      = 256;
  t.places_by_size = true;
  t.cores          = processors;
  t.packed_bytes   = 0;
  t.batch_tile     = 16;
  t.batch_part     = 64;
  t.columns_from   = any_number;
  t.cache_elements = any_number;
  t.resident_bytes = std::max<int64_t>(shared_bytes - partial_sums, 0);
  t.enough_rows    = any_number;
  t.steps_together = true;
  t.sum_blocks     = 8 * processors;
  t.event_blocks   = 1024;
  t.event_run      = 1;

  t.blocks.shared_bytes = shared_bytes;
  return t;
}

}  // namespace braintrace::codegen
