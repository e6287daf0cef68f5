// SPDX-License-Identifier: Apache-2.0
// Which positions of a group read which in one step: the graph behind SnAp.
#pragma once

#include "braintrace/compiler/graph.h"

namespace braintrace {

// Positions that differ in the leading, never mixed axes (the batch) are not connected, and every slice along these
// axes has the same edges; one slice of `size` positions is kept.
struct PositionGraph {
  int64_t                       size = 1;
  std::vector<std::vector<int>> influences;  // of each position: the positions that read it, sorted
  std::string                   reason;      // why edges may be there that no derivative needs; empty: none are
};
// Never lacks an edge: what it leaves out has a zero derivative.
PositionGraph position_graph(const ModuleInfo& info, const HiddenGroup& g);

// Positions of a row of argument `arg`, `units` of them, in as few classes as a greedy choice finds, such that no
// result at a position reads another of its class: one push serves a class. The class of each position; every position
// has its own where a result has other positions than the argument.
std::vector<int> independent_classes(const Program& region, size_t arg, int64_t rows, int64_t units);

// Throws CompileError, with the records so far, when Jacobians of that width would exceed `max_jacobian_elements`.
SnapPattern snap_pattern(const ModuleInfo& info, const HiddenGroup& g, int n, int64_t max_jacobian_elements,
                         const Diagnostics& log);

}  // namespace braintrace
