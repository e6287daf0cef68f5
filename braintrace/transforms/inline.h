// SPDX-License-Identifier: Apache-2.0
// Replaces equations by their bodies or expansions.
#pragma once

#include "braintrace/ir/op.h"

namespace braintrace {

// Turns the first `count` arguments into leading constants: the inverse of constants_as_args.
void args_as_constants(Program& program, size_t count);

// A program with the same constants and arguments as `program`, whose results `emit` computes from them.
Program rebuilt(const Program& program, const std::function<Tensors(Builder& to, const Tensors& in)>& emit);

// Replaces every equation that `which` accepts and whose op has an expansion by that expansion, also inside nested
// programs and inside expansions.
Program inlined(const Program& program, const std::function<bool(const Op&)>& which);

Program inline_calls(const Program& program);       // call equations become their bodies
Program expand_composites(const Program& program);  // only primitive ops remain

}  // namespace braintrace
