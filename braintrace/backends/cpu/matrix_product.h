// SPDX-License-Identifier: Apache-2.0
// The matrix products that the host provides to compiled code (codegen/c/abi.h).
#pragma once

#include <string>

#include "braintrace/base/dtype.h"

namespace braintrace::cpu {

// A C file whose function bt_product returns the vectorized matrix product for f32 or f64.
std::string product_source(DType t);

}  // namespace braintrace::cpu
