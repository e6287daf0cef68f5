// SPDX-License-Identifier: Apache-2.0
// Work that can be stopped before it ends, such as by Ctrl-C in Python: its loops look at a flag between two steps.
// What it has computed by then is discarded.
//
//   LongRun run;                                       // where results can be discarded
//   for (…) { stop_if_asked(); … }                     // throws Stopped
#pragma once

#include <cstdint>
#include <exception>

namespace braintrace {

// Nonzero: stop. A signal handler may write it.
using StopFlag = volatile int32_t;
extern const StopFlag never_stop;

// Thrown by work that was asked to stop. It is not an error.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped before the end"; }
};

// Who asks work to stop. It is called on the thread whose work begins, and returns the flag to look at, or null if this
// work cannot be stopped.
using StopSource = const StopFlag* (*)();
void set_stop_source(StopSource source);  // null, as at the start: no work is asked to stop
bool has_stop_source();

// While it lives, work of this thread can be stopped. Inside another one, it changes nothing.
class LongRun {
 public:
  LongRun();
  ~LongRun();
  LongRun(const LongRun&)            = delete;
  LongRun& operator=(const LongRun&) = delete;

  static const StopFlag* flag();  // of this thread; never_stop outside of a LongRun

 private:
  bool is_outermost_ = false;
};

inline void stop_if_asked() {
  if (*LongRun::flag()) throw Stopped();
}

}  // namespace braintrace
