// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace braintrace::testing_support {

// How often this process has called operator new, in any thread, and for how many bytes.
int64_t allocations();
int64_t allocated_bytes();

}  // namespace braintrace::testing_support
