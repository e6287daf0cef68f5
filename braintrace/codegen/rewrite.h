// SPDX-License-Identifier: Apache-2.0
// Rewrites a program equation by equation.
#pragma once

#include <functional>

#include "braintrace/ir/builder.h"
#include "braintrace/ir/op.h"

namespace braintrace::codegen {

// Equation e of p, with the rewritten operands `in`.
struct Rewriting {
  Builder&       to;
  const Program& p;
  const Eqn&     e;
  const Tensors& in;
  const Mask&    is_used;  // which values of p are used
};
// Returns the replacement of an equation, or nothing to keep it.
using Emitter = std::function<Tensors(const Rewriting&)>;

Tensors rewrite(Builder& to, const Program& p, const Tensors& in, const Emitter& emit);
Program rewritten(const Program& p, const Emitter& emit);  // and simplifies

}  // namespace braintrace::codegen
