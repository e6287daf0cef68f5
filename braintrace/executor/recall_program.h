// SPDX-License-Identifier: Apache-2.0
// The program that contracts a rule's memory with credit for the hidden states before a step:
//
//   RecallInputs → gradients of the weights
//
// Needed for losses that read old states outside the model; reads inside the model are part of the window program.
#pragma once

#include "braintrace/executor/rule.h"

namespace braintrace {

template <class List>
struct RecallInputs {
  List args, states, memory;
  List credit;  // cotangents of the old hidden states
};

struct RecallProgram {
  Traced recall;
  bool   reads_arguments = false;  // the Jacobian of a weight operand depends on the inputs of the step
};

RecallProgram build_recall_program(const ETraceGraph& graph, const LearningRule& rule);

}  // namespace braintrace
