// SPDX-License-Identifier: Apache-2.0
// Brings a step into the form the other passes read: one flat list of simple equations wherever that is possible.
//
//   call, remat, composites   replaced by what they stand for
//   cond                      all branches run, a select picks the results (when states or weights are involved)
//   scan                      short ones are unrolled (likewise)
//
// Nested control flow is treated from the outside in, in one recursive pass. What is left alone is recorded.
#pragma once

#include "braintrace/compiler/diagnostics.h"
#include "braintrace/compiler/options.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ir/op.h"

namespace braintrace {

// Which inputs and results of the step make control flow relevant.
struct StepRoles {
  Mask weight, hidden;  // by input: constants then arguments
  Mask exit;            // by result
};

// Inputs and results keep their order.
Traced canonicalize(const Traced& step, const StepRoles& roles, const ControlFlowPolicy& policy, Diagnostics& log);

// Some equation of the program or of a nested one satisfies the test.
bool contains_op(const Program& program, bool (*test)(const Op&));
bool contains_trainable(const Program& program);
// Nested programs of an equation.
ProgramPtrs nested_programs(const Attrs& attrs);

}  // namespace braintrace
