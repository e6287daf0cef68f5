// SPDX-License-Identifier: Apache-2.0
// Any bytes either fail with a UserError or give at most one event per 5 bytes, all within the sensor.
#include "braintrace/data/nmnist.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace braintrace::data;
  try {
    const Events events = decode_nmnist({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
    if (events.size() * 5 > size) __builtin_trap();
    event_frames(events, 3, nmnist_sensor, "fuzz");  // an error for what is outside the sensor, or too short
    for (const Event& e : events)
      if (e.x >= nmnist_sensor.width || e.y >= nmnist_sensor.height || e.time_us < 0) __builtin_trap();
  } catch (const braintrace::UserError&) {
  }
  return 0;
}
