// SPDX-License-Identifier: Apache-2.0
// How much a program has to do: its stages as the code generator fuses them, loops counted as often as they run.
#pragma once

#include "braintrace/ir/program.h"

namespace braintrace {

struct Work {
  double products   = 0;  // multiply-adds of matrix products and convolutions
  double elements   = 0;  // elementary operations in loops
  double series     = 0;  // those among them that take a series, a root or a division
  double far_bytes  = 0;  // memory traffic of stages that exceed the processor's cache
  double near_bytes = 0;  // of the others
  double stages     = 0;

  double flops() const { return 2 * products + elements + 8 * series; }
  double bytes() const { return far_bytes + near_bytes; }
};

// Of a lowered program.
Work work_of(const Program& program);

// What this machine does per second, measured with compiled programs; some tenths of a second.
struct Yardstick {
  double products, elements, series, far_bytes, near_bytes, stages;

  static Yardstick measured();
  double           seconds(const Work& work) const;
};

}  // namespace braintrace
