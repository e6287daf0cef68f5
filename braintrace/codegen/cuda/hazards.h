// SPDX-License-Identifier: Apache-2.0
// Detects data hazards (read-after-write, write-after-read, write-after-write) between kernels of a nested function.
// Kernels without one can run without a barrier between them.
//
//   a = f(x);  b = g(y);  c = h(a)   →   f, g, barrier, h
#pragma once

#include "braintrace/codegen/memory.h"

namespace braintrace::codegen {

// Memory accessed by kernels since the last barrier.
class Hazards {
 public:
  explicit Hazards(const Function& f) : f_(f) {}

  // Whether a barrier is needed before the kernel.
  bool must_wait(const Kernel& k) const {
    const MemoryRanges written = written_by(f_, k);
    return overlap(f_, written, reads_) || overlap(f_, written, writes_) ||
           overlap(f_, ranges_of(f_, k.reads), writes_);
  }
  void add(const Kernel& k) {
    for (const MemoryRange& r : ranges_of(f_, k.reads)) reads_.push_back(r);
    for (const MemoryRange& r : written_by(f_, k)) writes_.push_back(r);
  }
  void clear() {
    reads_.clear();
    writes_.clear();
  }
  bool writes(Var v) const { return overlap(f_, range_of(f_, v), writes_); }

 private:
  const Function& f_;
  MemoryRanges    reads_, writes_;
};

}  // namespace braintrace::codegen
