// SPDX-License-Identifier: Apache-2.0
// Turns signals that would end the process into a flag that the program checks between two steps, so that it can save
// and end cleanly.
//
//   const StopSignals stop;
//   while (!StopSignals::asked()) step();
//
// The signals are those that a terminal, a shell or a service manager sends (HUP, INT, QUIT, TERM, the limit of CPU
// time, alarms and those for users). If HUP is ignored, as under nohup, it stays ignored. Some senders repeat a signal
// immediately; a signal more than a second after the first ends the process, unless something is unsaved.
//
// After the first StopSignals, a closed pipe (PIPE) and a file over its limit (XFSZ) do not end the process: they are
// errors of the call that writes.
#pragma once

#include <chrono>
#include <optional>

namespace braintrace {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();  // from then on, signals end the process again
  StopSignals(const StopSignals&)            = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  static int  asked();                    // the first signal that arrived; 0: none
  static void set_unsaved(bool unsaved);  // while true, later signals wait for the save
};

enum class Wait : uint8_t { Ready, TimedOut, Stopped };
// Waits until a descriptor is ready for `events` of poll(2), the time is over, or a stop signal has arrived, possibly
// before the call. Without a time, there is no limit.
Wait wait_for(int fd, short events, std::optional<std::chrono::nanoseconds> longest = {});

}  // namespace braintrace
