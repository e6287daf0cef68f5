// SPDX-License-Identifier: Apache-2.0
// Values of hidden states, or of what belongs to each of them, side by side per hidden group.
#pragma once

#include <functional>

#include "braintrace/compiler/graph.h"

namespace braintrace {

StateMap hidden_states_of(const ETraceGraph& graph);
Tensors  per_group(const ETraceGraph& graph, const std::function<Tensor(const HiddenVar&)>& of);
// The states as they are now.
Tensors hidden_per_group(const ETraceGraph& graph);

}  // namespace braintrace
