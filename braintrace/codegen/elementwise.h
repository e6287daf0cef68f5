// SPDX-License-Identifier: Apache-2.0
// Operations that loop nests compute element by element.
#pragma once

#include "braintrace/ir/op.h"

namespace braintrace::codegen {

inline bool has_expression(const Op& op) { return op.code.is_given(); }

// Whether recomputing an element is also cheaper than loading it.
inline bool is_cheap(const Op& op) { return op.code.is_given() && op.code.cost != ElementCost::Series; }

}  // namespace braintrace::codegen
