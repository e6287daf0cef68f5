// SPDX-License-Identifier: Apache-2.0
// What a learner has once its graph is known.
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
  // By method, length, dropped memory and types of what steps are given.
  std::map<std::string, WindowProgram> programs;
  std::optional<RecallProgram>         recall = {};
};

}  // namespace braintrace
