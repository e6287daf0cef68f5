// SPDX-License-Identifier: Apache-2.0
// Per-axis dependence: does a region keep positions apart?
#pragma once

#include "braintrace/ir/op.h"

namespace braintrace {

// For each value of the program: how its axes follow the axes of argument `arg`; reached says whether it depends at
// all.
struct PositionMap {
  std::vector<bool>      reached;
  std::vector<AxisLinks> links;
};
PositionMap follow_positions(const Program& region, size_t arg);

// How result r of an equation follows operand k. A function with a derivative of its own is judged by its body.
AxisLinks equation_links(const Eqn& e, const Types& in, const Types& out, size_t k, size_t r);
bool      judged_by_body(const Eqn& e);

// Result r reads the argument only at its own flat position, over the leading `source_axes` of the argument and
// `result_axes` of the result. With may_repeat the result may have further leading axes along which the argument is
// repeated.
bool keeps_positions(const PositionMap& map, const Program& region, size_t arg, size_t result, int source_axes,
                     int result_axes, bool may_repeat = false);

}  // namespace braintrace
