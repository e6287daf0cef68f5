// SPDX-License-Identifier: Apache-2.0
// A program written anew, equation by equation.
#pragma once

#include <functional>

#include "braintrace/ir/builder.h"
#include "braintrace/ir/op.h"

namespace braintrace::codegen {

// The equation e of p, whose operands are `in`.
struct Rewriting {
  Builder&       to;
  const Program& p;
  const Eqn&     e;
  const Tensors& in;
  const Mask&    is_used;  // which values of p anything reads
};
// What stands in place of an equation; nothing where it stays.
using Emitter = std::function<Tensors(const Rewriting&)>;

Tensors rewrite(Builder& to, const Program& p, const Tensors& in, const Emitter& emit);
Program rewritten(const Program& p, const Emitter& emit);  // simplified

}  // namespace braintrace::codegen
