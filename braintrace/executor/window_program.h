// SPDX-License-Identifier: Apache-2.0
// Model, Jacobians and learning rule joined into two programs, for a single step or for a window of steps:
//
//   forward    (arguments, states, memory, aux)     → (results, states', memory', residuals)
//   backward   (residuals, ct results, ct states')  → (ct arguments, ct states)
//
// `states` are in the order of StatefulProgram::reads, `states'` in that of `writes`. In a window arguments, results
// and aux have a leading time axis. The cotangent of a parameter is its gradient under the rule.
#pragma once

#include "braintrace/executor/rule.h"

namespace braintrace {

struct WindowOptions {
  VjpMethod              method = VjpMethod::SingleStep;
  std::optional<int64_t> length = {};     // number of steps; none = a single step without time axis
  Types                  aux    = {};     // of the values each step is given besides its inputs
  bool                   fresh  = false;  // the memory starts at zero and is dropped: nothing of it need be formed
  // Values that are not finite are errors. The forward program then takes the number of the call, i32, behind aux.
  bool check_finite = false;
};

struct WindowProgram {
  Program forward, backward;
  Tensors forward_constants;
  size_t  num_residuals = 0;
};

WindowProgram build_window_program(const ETraceGraph& graph, const LearningRule& rule, const WindowOptions& options);

}  // namespace braintrace
