// SPDX-License-Identifier: Apache-2.0
// The speed of this machine.
#pragma once

#include <string>

#include "braintrace/runtime/work.h"

namespace braintrace {

// Operations per second of this machine, measured with compiled programs; takes some tenths of a second.
struct Yardstick {
  double products, elements, series, far_bytes, near_bytes, kernels;

  static Yardstick measured(const std::string& backend);
  double           seconds(const Work& work) const;
};

}  // namespace braintrace
