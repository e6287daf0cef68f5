// SPDX-License-Identifier: Apache-2.0
// The judge of all other backends: each op's reference meaning in turn, accumulating in double.
#pragma once

#include "braintrace/runtime/backend.h"

namespace braintrace {

Backend& reference_backend();

}  // namespace braintrace
