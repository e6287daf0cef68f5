// SPDX-License-Identifier: Apache-2.0
// Elementwise operations as C expressions, from the texts in their records.
#pragma once

#include <string>
#include <vector>

#include "braintrace/ir/program.h"

namespace braintrace::codegen {

// The value of one element, from the values of the operands' elements; `in` is the type of the first.
std::string expression(const Op& op, DType in, DType out, const std::vector<std::string>& operands);

// x as `to` under the rules of the convert op.
std::string converted(DType from, DType to, const std::string& x);

}  // namespace braintrace::codegen
