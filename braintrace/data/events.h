// SPDX-License-Identifier: Apache-2.0
// Recordings of event cameras and artificial cochleas, and their frames.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "braintrace/base/array.h"

namespace braintrace::data {

struct Event {
  int32_t x = 0, y = 0, polarity = 0;
  int64_t time_us = 0;

  bool operator==(const Event&) const = default;
};
using Events = std::vector<Event>;

struct Sensor {
  int64_t polarities = 2, height = 1, width = 1;
};

// Counts of events, f32[n, polarities, height, width]. With w = ⌊(t_last - t_first) / n⌋, frame i counts the events
// with t_first + i·w ≤ t < t_first + (i+1)·w; later events are dropped. Without events, all frames are empty; a
// recording with fewer microseconds than frames, or an event outside the sensor, throws UserError. Events may be in any
// order.
Array event_frames(const Events& events, int64_t n, const Sensor& sensor, const std::string& where);

}  // namespace braintrace::data
