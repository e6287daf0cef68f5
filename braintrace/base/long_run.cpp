// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/long_run.h"

#include <atomic>

namespace braintrace {

const StopFlag never_stop = 0;

namespace {

std::atomic<StopSource>      stop_source{nullptr};
thread_local const StopFlag* stop_flag = nullptr;

}  // namespace

void set_stop_source(StopSource source) { stop_source = source; }
bool has_stop_source() { return stop_source != nullptr; }

LongRun::LongRun() {
  const StopSource source = stop_source;
  if (stop_flag || !source) return;
  stop_flag     = source();
  is_outermost_ = true;
}

LongRun::~LongRun() {
  if (is_outermost_) stop_flag = nullptr;
}

const StopFlag* LongRun::flag() { return stop_flag ? stop_flag : &never_stop; }

}  // namespace braintrace
