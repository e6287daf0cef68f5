// SPDX-License-Identifier: Apache-2.0
// Indices that are known at compile time, such as sparsity patterns and lookup tables. They are checked once, at
// compile time, and can be sorted.
//
//   y = take(x, i), i a constant input      →      c = constant[2, 0, 1];  y = take(x, c)
#pragma once

#include "braintrace/codegen/passes.h"
#include "braintrace/ir/op.h"

namespace braintrace::codegen {

// Inlines the integer arrays among the program's constants as constant equations, so that common-subexpression
// elimination merges equations that read them. Does not change the inputs of the program.
Program with_known_indices(const Program& program, const Arrays& constants, const Options& options = {});

// The value of v if it is known at compile time; otherwise null.
const Array* known_value(const Program& p, Var v);
// Whether every element is in 0 … below-1; for a value, also whether it is known.
bool is_below(const Array& index, int64_t below);
bool is_known_below(const Program& p, Var v, int64_t below);

}  // namespace braintrace::codegen
