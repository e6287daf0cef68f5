// SPDX-License-Identifier: Apache-2.0
// AEDAT 3.1, the format of DVS-Gesture (Amir et al. 2017): a long recording with a table of its clips.
//
//   lines that begin with '#'; then packets of a 28-byte header and events, all little-endian
//   header:  type : u16 at 0 (1: polarity),  event size : u32 at 4,  clock overflows : u32 at 12,  events : u32 at 20
//   polarity event, 8 bytes:  d : u32,  time in µs : u32;  x = d≫17 & 0x1fff,  y = d≫2 & 0x1fff,  polarity = d≫1 & 1
//
// The table is CSV with a header line: class from 1, start µs, end µs.
#pragma once

#include "braintrace/data/events.h"
#include "braintrace/data/source.h"

namespace braintrace::data {

// A recording; only the offsets of its packets are in memory.
class AedatFile {
 public:
  explicit AedatFile(const std::string& path);
  Events read(int64_t from_us, int64_t to_us) const;  // from ≤ t < to

 private:
  struct Packet {
    int64_t offset, count, overflows, first_us, last_us;
  };
  Source              source_;
  std::vector<Packet> packets_;
};

struct Clip {
  int64_t label   = 0;  // from 0
  int64_t from_us = 0, to_us = 0;
};
std::vector<Clip> read_clips(const std::string& csv_path, int64_t classes);

// A clip that was extracted beforehand: a .npy array [n, 4] of x, y, polarity and time in ms.
Events read_gesture_npy(const std::string& path);

}  // namespace braintrace::data
