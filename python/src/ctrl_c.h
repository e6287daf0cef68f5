// SPDX-License-Identifier: Apache-2.0
// Ctrl-C while a program runs. Python only notes the signal, and raises KeyboardInterrupt at the next instruction of
// the main thread, which comes after the program. So as long as a call runs there, the signal also asks programs that
// take long to stop (base/long_run.h): their states are then as before the call.
#pragma once

#include "gil.h"

namespace pybraintrace {

void begin_to_listen();  // once, when the module is loaded

// While it lives, Ctrl-C stops long programs of this thread, if it is the main thread and nobody replaced Python's own
// handler. Made with the GIL.
class HeedsCtrlC {
 public:
  HeedsCtrlC();
  ~HeedsCtrlC();
  HeedsCtrlC(const HeedsCtrlC&)            = delete;
  HeedsCtrlC& operator=(const HeedsCtrlC&) = delete;

 private:
  bool before_;
};

// Runs f without the GIL; a program inside may be stopped, so f changes nothing that an exception would leave halfway.
template <class F>
auto stoppable(F&& f) {
  const HeedsCtrlC heeds;
  const WithoutGil released;
  return f();
}

}  // namespace pybraintrace
