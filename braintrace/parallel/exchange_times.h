// SPDX-License-Identifier: Apache-2.0
// How long it takes to sum a vector over the ranks of a group, as an update of the weights does.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "braintrace/parallel/group.h"

namespace braintrace::parallel {

struct ExchangeTime {
  int64_t numbers;  // f32
  // Until the slowest rank has the sum; the least of many, which other work on the machine changes little.
  double seconds;
};
// At every rank, of vectors from one number to a few million; `seconds` is the time to spend on each.
std::vector<ExchangeTime> exchange_times(const std::shared_ptr<Group>& group, double seconds);

}  // namespace braintrace::parallel
