// SPDX-License-Identifier: Apache-2.0
// Hidden states and their values.
#pragma once

#include "braintrace/executor/step.h"

namespace braintrace {

StateMap hidden_states_of(const ETraceGraph& graph);
// The states as they are now, side by side per hidden group.
Tensors hidden_per_group(const ETraceGraph& graph);

}  // namespace braintrace
