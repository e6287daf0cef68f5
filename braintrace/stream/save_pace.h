// SPDX-License-Identifier: Apache-2.0
// When a running stream saves: after every N records, but not so often that saving takes more than a twentieth of the
// time. A save that is due earlier waits.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace braintrace::stream {

class SavePace {
 public:
  using Clock = std::chrono::steady_clock;

  explicit SavePace(int64_t every) : every_(every) {}  // 0: never

  void add_record() { ++records_; }
  // The time until a due save may begin; empty if none is due.
  std::optional<Clock::duration> due_in(Clock::time_point now) const {
    if (every_ == 0 || records_ < every_) return {};
    return std::max(earliest_ - now, Clock::duration::zero());
  }
  // A save succeeded or failed: the next one is due after another N records.
  void tried(Clock::time_point begin, Clock::time_point end) {
    records_  = 0;
    earliest_ = end + 19 * (end - begin);
  }

 private:
  int64_t           every_, records_ = 0;
  Clock::time_point earliest_ = {};
};

}  // namespace braintrace::stream
