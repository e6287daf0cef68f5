// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace braintrace::testing_support {

// How often this process has called operator new, in any thread.
int64_t allocations();

}  // namespace braintrace::testing_support
