// SPDX-License-Identifier: Apache-2.0
// Replaces equations by the programs they stand for.
#pragma once

#include "braintrace/ir/op.h"

namespace braintrace {

// The first `count` arguments lead the constants: the inverse of constants_as_args.
void args_as_constants(Program& program, size_t count);

// A program with the inputs of `program` whose results `emit` makes of them; its constants stay apart from its
// arguments.
Program rebuilt(const Program& program, const std::function<Tensors(Builder& to, const Tensors& in)>& emit);

// Every equation that `which` accepts and whose op has an expansion becomes that expansion, also inside nested programs
// and inside what was expanded.
Program inlined(const Program& program, const std::function<bool(const Op&)>& which);

Program inline_calls(const Program& program);       // call equations become their bodies
Program expand_composites(const Program& program);  // only ops with a meaning of their own remain

}  // namespace braintrace
