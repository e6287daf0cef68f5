// SPDX-License-Identifier: Apache-2.0
// How much a program has to do: its stages as the code generator fuses them, loops counted as often as they run.
#pragma once

#include <optional>
#include <string_view>

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

// An elementary operation takes some instructions, or a series, a root or a division. Of operations that are not
// elementwise nothing is said: what they do beside products is moving and adding elements.
enum class CostClass : uint8_t { Simple, Series };
std::optional<CostClass> cost_class(std::string_view op);

// Of a lowered program.
Work work_of(const Program& program);

// What this machine does per second, measured with compiled programs; some tenths of a second.
struct Yardstick {
  double products, elements, series, far_bytes, near_bytes, stages;

  static Yardstick measured();
  double           seconds(const Work& work) const;
};

}  // namespace braintrace
