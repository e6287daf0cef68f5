// SPDX-License-Identifier: Apache-2.0
// Multithreaded work on the host, such as drawing initial weights. Compiled programs use their own threads.
#pragma once

#include <cstdint>
#include <functional>

namespace braintrace {

// Divides 0 … count-1 into ranges of `grain` (the last may be shorter) and calls work(begin, end) for each, in parallel
// on the processors of this process. Returns when all have finished; rethrows one of their exceptions.
void in_parallel(int64_t count, int64_t grain, const std::function<void(int64_t begin, int64_t end)>& work);

}  // namespace braintrace
