// SPDX-License-Identifier: Apache-2.0
// The step program: model, Jacobians and learning rule joined.
//
//   forward    (arguments, states, traces)          → (results, states', traces', residuals)
//   backward   (residuals, ct results, ct states')  → (ct arguments, ct states)
//
// `states` are in the order of StatefulProgram::reads, `states'` in that of `writes`. The cotangent of a parameter is
// its gradient under the rule.
#pragma once

#include "braintrace/compiler/graph.h"

namespace braintrace {

// One eligibility trace: of one weight of one relation, for one group.
struct TraceSlot {
  int  relation, connection, trainable;
  Type type;
};

struct StepProgram {
  std::vector<TraceSlot> traces;
  Program                forward, backward;
  Tensors                forward_constants;
  size_t                 num_residuals = 0;
};

StepProgram build_step_program(const ETraceGraph& graph);

}  // namespace braintrace
