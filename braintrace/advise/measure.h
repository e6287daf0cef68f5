// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

namespace braintrace {

struct Measured {
  int64_t memory  = 0;  // growth of the resident set at its peak
  double  seconds = 0;  // per step
};

// Runs `work` in a process of its own, which inherits this one; it gives the seconds per step. Nothing when it failed.
std::optional<Measured> measured_apart(const std::function<double()>& work);

}  // namespace braintrace
