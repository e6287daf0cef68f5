// SPDX-License-Identifier: Apache-2.0
// Combines model, Jacobians and learning rule into two programs, for a single step or a window of steps:
//
//   forward    WindowInputs                          → WindowResults
//   backward   (residuals, ct of the step's results)  → ct of the step's inputs
//
// In a window, arguments, results and aux have a leading time axis. The cotangent of a parameter is its gradient under
// the rule.
#pragma once

#include "braintrace/executor/rule.h"

namespace braintrace {

template <class List>
struct WindowInputs {
  List step;  // arguments, then states in the order of StatefulProgram::reads
  List memory, aux;
  List call;  // the number of the call, i64, if values are checked
};
template <class List>
struct WindowResults {
  List step;  // results, then states in the order of StatefulProgram::writes
  List memory, residuals;
};

struct WindowOptions {
  VjpMethod              method       = VjpMethod::SingleStep;
  std::optional<int64_t> length       = {};     // number of steps; none: a single step without time axis
  Types                  aux          = {};     // types of the additional inputs of each step
  bool                   fresh        = false;  // the memory starts at zero and is discarded, so it is never formed
  bool                   check_finite = false;  // non-finite values are errors
};

struct WindowProgram {
  Program forward, backward;
  Tensors forward_constants;
  size_t  num_residuals = 0;
};

WindowProgram build_window_program(const ETraceGraph& graph, const LearningRule& rule, const WindowOptions& options);

}  // namespace braintrace
