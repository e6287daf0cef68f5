// SPDX-License-Identifier: Apache-2.0
// A program written anew, equation by equation.
#pragma once

#include <functional>

#include "braintrace/ir/builder.h"
#include "braintrace/ir/op.h"

namespace braintrace::codegen {

// Writes the equation e of p, whose operands are `in`; `is_used` tells which values of p anything reads.
using Emitter =
    std::function<Tensors(Builder& to, const Program& p, const Eqn& e, const Tensors& in, const Mask& is_used)>;

Tensors rewrite(Builder& to, const Program& p, const Tensors& in, const Emitter& emit);
Program rewritten(const Program& p, const Emitter& emit);  // simplified

}  // namespace braintrace::codegen
