// SPDX-License-Identifier: Apache-2.0
// Work of the host that is large enough for several threads: drawing initial weights, say. Compiled programs have
// threads of their own.
#pragma once

#include <cstdint>
#include <functional>

namespace braintrace {

// Calls work(begin, end) for ranges of `grain`, the last one perhaps shorter, that make up 0 … count-1, side by side on
// the processors of this process. Returns when all are done; one of their exceptions comes here.
void in_parallel(int64_t count, int64_t grain, const std::function<void(int64_t begin, int64_t end)>& work);

}  // namespace braintrace
