// SPDX-License-Identifier: Apache-2.0
// Per-axis dependence: does a region mix positions?
#pragma once

#include <optional>

#include "braintrace/ir/op.h"

namespace braintrace {

// For each value of the program: how its axes correspond to the axes of argument `arg`, and whether it depends on it at
// all (`reached`).
struct PositionMap {
  std::vector<bool>      reached;
  std::vector<AxisLinks> links;
};
PositionMap follow_positions(const Program& region, size_t arg);

// How result r of an equation depends on operand k. For a function with a custom derivative, the derivative determines
// it.
AxisLinks equation_links(const Eqn& e, const Types& in, const Types& out, size_t k, size_t r);
bool      tells_positions(const Eqn& e);  // otherwise every position may depend on every other
// The same by elements: elements of the operand and of the result that may depend on each other have equal numbers.
struct LinkedElements {
  std::vector<int64_t> operand, result;
};
LinkedElements linked_elements(const Program& program, const Eqn& e, size_t k, size_t r);

// source → operand, then operand → result. Links compose if their ranges on the operand agree, possibly after merging
// neighbors on one side; other links are dropped.
AxisLinks compose(const AxisLinks& first, const AxisLinks& then);
// What holds on both of two paths from one source to one result.
AxisLinks meet(const AxisLinks& a, const AxisLinks& b);

// How the argument aligns with the result, which must depend on it, if no position of the result reads two positions of
// the argument: the leading `result_axes` sizes of the result, with size one where the argument repeats. The flat
// positions of that shape are those of the leading `source_axes` of the argument.
std::optional<Shape> layout_on(const PositionMap& map, const Program& region, size_t arg, size_t result,
                               int source_axes, int result_axes);
// Whether, along its leading `axes`, the result reads the argument only at the same flat position.
bool keeps_positions(const PositionMap& map, const Program& region, size_t arg, size_t result, int axes);
// The number of leading axes, at most `axes`, along which every result reads the argument only at the same position:
// usually the batch.
size_t separate_axes(const Program& region, size_t arg, size_t axes);

}  // namespace braintrace
