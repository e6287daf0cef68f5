// SPDX-License-Identifier: Apache-2.0
// The time to sum a vector over the ranks of a group, as in an update of the weights.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "braintrace/parallel/group.h"

namespace braintrace::parallel {

struct ExchangeTime {
  int64_t numbers;  // f32
  // Until the slowest rank has the sum; the minimum of many runs, which other work on the machine affects little.
  double seconds;
};
// For vectors of one to a few million numbers; `seconds` is the time to spend on each. Every rank returns the result.
std::vector<ExchangeTime> exchange_times(const std::shared_ptr<Group>& group, double seconds);

}  // namespace braintrace::parallel
