// SPDX-License-Identifier: Apache-2.0
// How fast this machine is.
#pragma once

#include <string>

#include "braintrace/runtime/work.h"

namespace braintrace {

// What this machine does per second, measured with compiled programs; some tenths of a second.
struct Yardstick {
  double products, elements, series, far_bytes, near_bytes, kernels;

  static Yardstick measured(const std::string& backend);
  double           seconds(const Work& work) const;
};

}  // namespace braintrace
