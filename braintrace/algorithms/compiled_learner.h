// SPDX-License-Identifier: Apache-2.0
// The part of a learner that exists only after its graph is compiled.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "braintrace/algorithms/learner.h"
#include "braintrace/executor/recall_program.h"
#include "braintrace/executor/window_program.h"

namespace braintrace {

struct OnlineLearner::Compiled {
  ETraceGraph        graph;
  MemorySlots        slots;
  std::vector<State> memory;
  State              running_index;
  StateMap           parts;  // of the model
  // Keyed by method, window length, `fresh`, and the types of inputs and aux values.
  std::map<std::string, WindowProgram> programs;
  std::optional<RecallProgram>         recall = {};
};

}  // namespace braintrace
