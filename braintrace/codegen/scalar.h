// SPDX-License-Identifier: Apache-2.0
// Elementwise operations as C expressions, from the texts in their records.
#pragma once

#include <string>
#include <vector>

#include "braintrace/ir/program.h"

namespace braintrace::codegen {

// Whether the op computes element by element and has an expression here.
bool has_expression(const Op& op);

// Whether it also costs less than reading an element from memory.
bool is_cheap(const Op& op);

// The value of one element, from the values of the operands' elements; `in` is the type of the first.
std::string expression(const Op& op, DType in, DType out, const std::vector<std::string>& operands);

// x as `to` under the rules of the convert op.
std::string converted(DType from, DType to, const std::string& x);

}  // namespace braintrace::codegen
