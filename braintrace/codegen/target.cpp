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

}  // namespace braintrace::codegen
