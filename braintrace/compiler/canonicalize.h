// SPDX-License-Identifier: Apache-2.0
// Brings a step into the form that the other passes expect: one flat list of simple equations, as far as possible.
//
//   call, remat, composites   replaced by their bodies
//   cond                      all branches run, and a select picks the results (if states or weights are involved)
//   scan                      unrolled if short (likewise)
//
// Nested control flow is processed from the outside in, in one recursive pass. A record lists what is left unchanged.
#pragma once

#include "braintrace/compiler/diagnostics.h"
#include "braintrace/compiler/options.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ir/op.h"

namespace braintrace {

// Which inputs and results of the step make control flow relevant.
struct StepRoles {
  Mask weight, hidden;  // by input: constants, then arguments
  Mask exit;            // by result
};

// Inputs and results keep their order.
Traced canonicalize(const Traced& step, const StepRoles& roles, const ControlFlowPolicy& policy, Diagnostics& log);

// Whether any equation of the program or of a nested program satisfies the test.
bool contains_op(const Program& program, bool (*test)(const Op&));
bool contains_trainable(const Program& program);
// Nested programs of an equation.
ProgramPtrs nested_programs(const Attrs& attrs);

}  // namespace braintrace
