// SPDX-License-Identifier: Apache-2.0
// Per-axis dependence: does a region keep positions apart?
#pragma once

#include <optional>

#include "braintrace/ir/op.h"

namespace braintrace {

// For each value of the program: how its axes follow the axes of argument `arg`; reached says whether it depends at
// all.
struct PositionMap {
  std::vector<bool>      reached;
  std::vector<AxisLinks> links;
};
PositionMap follow_positions(const Program& region, size_t arg);

// How result r of an equation follows operand k. A function with a derivative of its own is judged by that derivative.
AxisLinks equation_links(const Eqn& e, const Types& in, const Types& out, size_t k, size_t r);
bool      tells_positions(const Eqn& e);  // otherwise every position may depend on every other
// The same by elements: those of the operand and of the result that may have to do with each other have equal numbers.
struct LinkedElements {
  std::vector<int64_t> operand, result;
};
LinkedElements linked_elements(const Program& program, const Eqn& e, size_t k, size_t r);

// source → operand, then operand → result. Links compose when their ranges on the operand agree, possibly after
// joining neighbors on one side; what does not compose is dropped.
AxisLinks compose(const AxisLinks& first, const AxisLinks& then);
// What holds along both of two ways from one source to one result.
AxisLinks meet(const AxisLinks& a, const AxisLinks& b);

// How the argument lies on the result, which it must reach, when no position of the result reads two of the argument:
// the leading `result_axes` sizes of the result, with one where the argument repeats. The flat positions of that shape
// are those of the leading `source_axes` of the argument.
std::optional<Shape> layout_on(const PositionMap& map, const Program& region, size_t arg, size_t result,
                               int source_axes, int result_axes);
// Over its leading `axes` the result reads the argument only at its own flat position.
bool keeps_positions(const PositionMap& map, const Program& region, size_t arg, size_t result, int axes);
// The number of leading axes, at most `axes`, along which every result reads the argument only at its own place: the
// rows of a batch, as a rule.
size_t separate_axes(const Program& region, size_t arg, size_t axes);

}  // namespace braintrace
