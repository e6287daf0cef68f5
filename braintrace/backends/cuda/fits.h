// SPDX-License-Identifier: Apache-2.0
// Checks whether a program fits on a device before any memory is allocated.
#pragma once

#include <algorithm>

#include "braintrace/backends/cuda/device.h"

namespace braintrace::cuda {

inline void check_fits(const Device& device, int64_t bytes) {
  const int64_t free = device.free_bytes();
  if (bytes <= free) return;
  const auto gib = [](int64_t n) { return static_cast<double>(n) / (1 << 30); };
  fail(ErrorKind::State,
       "cuda: a program does not fit on {}: it takes {:.2f} GiB, and {:.2f} GiB are free. A batch of about {}% of this "
       "one would fit; a shorter window or a rule with less memory may too (braintrace advise --backend cuda).",
       device.name(), gib(bytes), gib(free), std::max<int64_t>(90 * free / bytes, 0));
}

}  // namespace braintrace::cuda
