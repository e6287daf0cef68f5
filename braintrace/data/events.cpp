// SPDX-License-Identifier: Apache-2.0
#include "braintrace/data/events.h"

#include <algorithm>

namespace braintrace::data {

Array event_frames(const Events& events, int64_t n, const Sensor& sensor, const std::string& where) {
  require(n > 0, "{}: expected at least one frame, got {}.", where, n);
  Array frames({DType::F32, {n, sensor.polarities, sensor.height, sensor.width}});
  if (events.empty()) return frames;
  const auto earlier             = [](const Event& a, const Event& b) { return a.time_us < b.time_us; };
  const auto [first_at, last_at] = std::minmax_element(events.begin(), events.end(), earlier);
  const int64_t first = first_at->time_us, last = last_at->time_us, w = (last - first) / n;
  require(w > 0, "{}: {} events within {} µs cannot be divided into {} frames; ask for fewer.", where, events.size(),
          last - first, n);
  float* counts = frames.mutable_data<float>();
  for (const Event& e : events) {
    require(e.x >= 0 && e.x < sensor.width && e.y >= 0 && e.y < sensor.height && e.polarity >= 0 &&
                e.polarity < sensor.polarities,
            "{}: an event at x {}, y {}, polarity {} is outside a sensor of {}×{} with {} polarities.", where, e.x, e.y,
            e.polarity, sensor.width, sensor.height, sensor.polarities);
    const int64_t i = (e.time_us - first) / w;
    if (i < n) ++counts[((i * sensor.polarities + e.polarity) * sensor.height + e.y) * sensor.width + e.x];
  }
  return frames;
}

}  // namespace braintrace::data
