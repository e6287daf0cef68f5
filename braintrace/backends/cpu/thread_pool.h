// SPDX-License-Identifier: Apache-2.0
// Threads that share the parts of one kernel. Which thread does which part never changes a result: every part is
// computed the same way wherever it runs.
#pragma once

#include <cstdint>

#include "braintrace/codegen/c/abi.h"

namespace braintrace::cpu {

// How many threads kernels may use: BRAINTRACE_NUM_THREADS, or one per processor that the process may use.
int  num_threads();
void set_num_threads(int n);  // 1 … 256

// While one lives, kernels that its thread runs use at most so many.
class ThreadLimit {
 public:
  explicit ThreadLimit(int most);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&)            = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int before_;
};

// task(frame, begin, end) over [0, count), by as many threads as there are grains; the first status that is not 0.
// Parts are those from `first` on of `whole`: who does a part depends on its place in the whole, so that tasks on the
// same data find each part where the last one left it. With whole = 0 data have no home, and threads that are done help
// others.
int32_t run_parallel(codegen::bt_task task, const codegen::bt_frame* frame, int64_t count, int64_t grain, int64_t first,
                     int64_t whole);

}  // namespace braintrace::cpu
