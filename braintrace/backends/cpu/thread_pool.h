// SPDX-License-Identifier: Apache-2.0
// A thread pool that executes the parts of one kernel. The assignment of parts to threads never changes a result: every
// part is computed the same way on any thread.
#pragma once

#include <cstdint>

#include "braintrace/codegen/c/abi.h"

namespace braintrace::cpu {

// Number of threads that kernels may use: one per CPU available to the process, or BRAINTRACE_NUM_THREADS if fewer.
int  num_threads();
void set_num_threads(int n);  // 1 … 256

// Limits the number of threads for kernels of the current thread during its lifetime.
class ThreadLimit {
 public:
  explicit ThreadLimit(int most);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&)            = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int before_;
};

// Runs task(frame, begin, end) over [0, count) with at most one thread per `grain` parts; returns the first nonzero
// status. The parts are those from `first` on of `whole`: the thread of a part depends on its position in the whole, so
// that tasks on the same data find each part in the cache of the same core. With whole = 0, data have no home, and idle
// threads steal work.
int32_t run_parallel(codegen::bt_task task, const codegen::bt_frame* frame, int64_t count, int64_t grain, int64_t first,
                     int64_t whole);

}  // namespace braintrace::cpu
