// SPDX-License-Identifier: Apache-2.0
// What the memory of a rule says about the hidden states as a step finds them:
//
//   RecallInputs → gradients of the weights
//
// For losses that read old states outside the model; a read inside it is part of the window program.
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
  bool   reads_arguments = false;  // what a weight means depends on the inputs of the step
};

RecallProgram build_recall_program(const ETraceGraph& graph, const LearningRule& rule);

}  // namespace braintrace
