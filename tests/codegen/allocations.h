// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace braintrace::testing_support {

// How often this thread has called operator new.
int64_t allocations();

}  // namespace braintrace::testing_support
