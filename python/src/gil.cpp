// SPDX-License-Identifier: Apache-2.0
#include "gil.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace pybraintrace {

namespace {

std::atomic<bool>            is_ending = false;
std::atomic<std::thread::id> ender;
std::atomic<int>             without = 0;  // threads that run without the GIL and will ask for it

bool must_wait() { return is_ending && ender.load() != std::this_thread::get_id(); }

[[noreturn]] void wait_for_ever() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace

void wait_at_the_end() {
  if (must_wait()) wait_for_ever();
}

void begin_the_end() {
  ender                 = std::this_thread::get_id();
  is_ending             = true;
  PyThreadState* thread = PyEval_SaveThread();
  // Programs that run longer than this find the mark when they are done.
  for (int i = 0; i < 200 && without > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  PyEval_RestoreThread(thread);
}

WithoutGil::WithoutGil() {
  ++without;
  thread_ = PyEval_SaveThread();
}

WithoutGil::~WithoutGil() {
  if (must_wait()) {
    --without;
    wait_for_ever();
  }
  PyEval_RestoreThread(thread_);
  --without;
}

}  // namespace pybraintrace
