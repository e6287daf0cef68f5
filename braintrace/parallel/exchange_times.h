// SPDX-License-Identifier: Apache-2.0
// How long it takes to sum a vector over the ranks of a group, as an update of the weights does.
#pragma once

#include <cstdint>
#include <vector>

#include "braintrace/parallel/group.h"

namespace braintrace::parallel {

struct ExchangeTime {
  int64_t numbers;  // f32
  double
      seconds;  // until the slowest rank has the sum; the least of many, which other work on the machine changes little
};
// At every rank, of vectors from one number to a few million; `seconds` is the time to spend on each.
std::vector<ExchangeTime> exchange_times(Group& group, double seconds);

}  // namespace braintrace::parallel
