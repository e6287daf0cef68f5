// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/ops/families.h"

namespace braintrace {

extern const Op copy_op;

// A copy with a new identity, so that a pass can distinguish two uses of one value.
inline Tensor copy(const Tensor& x) { return apply1(copy_op, {x}); }

const std::vector<const Op*>& copy_ops();

}  // namespace braintrace
