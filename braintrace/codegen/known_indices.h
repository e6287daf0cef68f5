// SPDX-License-Identifier: Apache-2.0
// Indices whose values are known when a program is compiled: patterns of sparse matrices, tables of positions. They are
// checked then, once, and entries are arranged by them.
#pragma once

#include "braintrace/ir/op.h"

namespace braintrace::codegen {

// The program with the integer arrays among its constants written into it, so that equations that read them, some as
// constants and some written out already, are seen to be equal. Its inputs stay as they are.
Program with_known_indices(Program program, const Arrays& constants);

// The value of v where the program says it; null elsewhere.
const Array* known_value(const Program& p, Var v);
// Whether every element is in 0 … below-1, and for a value: and known.
bool is_below(const Array& index, int64_t below);
bool is_known_below(const Program& p, Var v, int64_t below);

}  // namespace braintrace::codegen
