// SPDX-License-Identifier: Apache-2.0
// Which positions of a group read which others in one step: the graph that SnAp uses.
#pragma once

#include "braintrace/compiler/graph.h"

namespace braintrace {

// Positions that differ in the leading axes that never mix (the batch) are not connected, and every slice along these
// axes has the same edges; one slice of `size` positions is stored.
struct PositionGraph {
  int64_t                       size = 1;
  std::vector<std::vector<int>> influences;  // of each position: the positions that read it, sorted
  std::string                   reason;      // why there may be edges without a derivative; empty: there are none
};
// Never misses an edge: pairs without an edge have a zero derivative.
PositionGraph position_graph(const ModuleInfo& info, const HiddenGroup& g);

// Divides the `units` positions of a row of argument `arg` greedily into few classes, such that no result at a position
// reads another position of its class: one jvp per class suffices. Returns the class of each position; every position
// has its own class if the positions of a result differ from those of the argument.
std::vector<int> independent_classes(const Program& region, size_t arg, int64_t rows, int64_t units);

// Throws CompileError, with the records so far, if Jacobians of that width would exceed `max_jacobian_elements`.
SnapPattern snap_pattern(const ModuleInfo& info, const HiddenGroup& g, int n, int64_t max_jacobian_elements,
                         const Diagnostics& log);

}  // namespace braintrace
