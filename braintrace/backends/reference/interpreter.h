// SPDX-License-Identifier: Apache-2.0
// The reference for all other backends: evaluates each operation by its definition and accumulates in double.
#pragma once

#include "braintrace/runtime/backend.h"

namespace braintrace {

Backend& reference_backend();

}  // namespace braintrace
