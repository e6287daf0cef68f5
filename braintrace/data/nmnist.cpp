// SPDX-License-Identifier: Apache-2.0
#include "braintrace/data/nmnist.h"

#include <fmt/format.h>

#include "braintrace/data/source.h"

namespace braintrace::data {

Events decode_nmnist(ByteSpan bytes, const std::string& where) {
  constexpr size_t  event_size = 5;
  constexpr int32_t overflow   = 240;
  if (bytes.empty()) refuse(where, 0, "an event (5 bytes)", "an empty file");
  if (const size_t rest = bytes.size() % event_size; rest != 0)
    refuse(where, static_cast<int64_t>(bytes.size() - rest), "an event (5 bytes)", fmt::format("{} bytes", rest));
  Events  events;
  int64_t added = 0;
  for (size_t i = 0; i < bytes.size(); i += event_size) {
    const uint64_t word = big_endian<5>(&bytes[i]);
    const Event    e{.x        = static_cast<int32_t>(word >> 32),
                     .y        = static_cast<int32_t>(word >> 24 & 0xff),
                     .polarity = static_cast<int32_t>(word >> 23 & 1),
                     .time_us  = static_cast<int64_t>(word & 0x7fffff) + added};
    if (e.y == overflow) {
      added += 1 << 13;
      continue;
    }
    if (e.x >= nmnist_sensor.width || e.y >= nmnist_sensor.height)
      refuse(where, static_cast<int64_t>(i), "x and y below 34", fmt::format("x {}, y {}", e.x, e.y));
    events.push_back(e);
  }
  return events;
}

Events read_nmnist(const std::string& path) { return decode_nmnist(read_file(path).span(), path); }

}  // namespace braintrace::data
