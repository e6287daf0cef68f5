// SPDX-License-Identifier: Apache-2.0
// Signals that would end the process become a question that work asks between two steps, so that it ends at a good
// place and saves.
//
//   const StopSignals stop;
//   while (!StopSignals::asked()) step();
//
// The signals are those that a terminal, a shell or a service manager sends (HUP, INT, QUIT, TERM, the limit of CPU
// time, alarms and those for users). A HUP that is ignored, as under nohup, stays ignored. Some senders repeat a signal
// at once; one that comes more than a second after the first ends the process, unless something is unsaved.
//
// A reader that goes away (PIPE) and a file over its limit (XFSZ) end nothing, from the first StopSignals on: they are
// errors of the call that writes.
#pragma once

#include <chrono>
#include <optional>

namespace braintrace {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();  // signals end the process again
  StopSignals(const StopSignals&)            = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  static int  asked();                    // the first signal that came; 0: none
  static void set_unsaved(bool unsaved);  // while it is so, further signals wait for the save
};

enum class Wait : uint8_t { Ready, TimedOut, Stopped };
// Until a descriptor is ready for `events` of poll(2), a time is over, or a signal asks to stop: also one that came
// before the call. Without a time it waits as long as it takes.
Wait wait_for(int fd, short events, std::optional<std::chrono::nanoseconds> longest = {});

}  // namespace braintrace
