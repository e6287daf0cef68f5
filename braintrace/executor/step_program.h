// SPDX-License-Identifier: Apache-2.0
// The step program: model, Jacobians and learning rule joined.
//
//   forward    (arguments, states, memory)          → (results, states', memory', residuals)
//   backward   (residuals, ct results, ct states')  → (ct arguments, ct states)
//
// `states` are in the order of StatefulProgram::reads, `states'` in that of `writes`. The cotangent of a parameter is
// its gradient under the rule:   ∇_t = s_t + credit   with s_t = ∂ℓ_t/∂θ, h_{t-1} held.
#pragma once

#include "braintrace/executor/rule.h"

namespace braintrace {

struct StepProgram {
  Types   memory;
  Program forward, backward;
  Tensors forward_constants;
  size_t  num_residuals = 0;
};

StepProgram build_step_program(const ETraceGraph& graph, const LearningRule& rule);

}  // namespace braintrace
