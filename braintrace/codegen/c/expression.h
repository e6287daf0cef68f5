// SPDX-License-Identifier: Apache-2.0
// C expressions for elementwise operations, from the templates in their records.
#pragma once

#include <string>
#include <vector>

#include "braintrace/ir/program.h"

namespace braintrace::codegen {

// The value of one result element from the values of operand elements; `in` is the type of the first operand.
std::string expression(const Op& op, DType in, DType out, const std::vector<std::string>& operands);

// Converts x to type `to` with the semantics of the convert op.
std::string converted(DType from, DType to, const std::string& x);

}  // namespace braintrace::codegen
