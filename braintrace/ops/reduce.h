// SPDX-License-Identifier: Apache-2.0
// Reductions over axes, by default over all. Negative axes count from the end; keep_axes keeps the reduced axes with
// size one. sum, prod, mean and var count bools as i32. max, min, argmax and argmin propagate NaN.
#pragma once

#include <optional>

#include "braintrace/ops/families.h"
#include "braintrace/ops/keys.h"

namespace braintrace {

extern const Op argmax_op, argmin_op, reduce_all_op, reduce_any_op, reduce_max_op, reduce_min_op, reduce_prod_op,
    reduce_sum_op;

// Converts bools to the numbers that sums and products use.
Tensor countable(const Tensor& x);

Tensor all(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
Tensor any(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
Tensor max(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
Tensor mean(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
Tensor min(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
Tensor prod(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
Tensor sum(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
// Mean squared distance from the mean, over n - correction.
Tensor var(const Tensor& x, const Axes& axes = {}, bool keep_axes = false, double correction = 0);

// The i32 position of the first largest (smallest) element along an axis, or in row-major order.
Tensor argmax(const Tensor& x, std::optional<int64_t> axis = {}, bool keep_axes = false);
Tensor argmin(const Tensor& x, std::optional<int64_t> axis = {}, bool keep_axes = false);

// Rules shared with other ops that reduce axes or work along one.
Types     reduced_infer(const Op& op, const Types& in, const Attrs& a);
Types     nonempty_reduced_infer(const Op& op, const Types& in, const Attrs& a);  // no reduced axis has size 0
Tensors   reduced_batch(const BatchArgs& a);
AxisLinks reduced_depend(const DependArgs& a);
Tensors   shifted_axis_batch(const BatchArgs& a);  // keys::axis moves with the new leading axis; all operands get it
AxisLinks other_axes_depend(const DependArgs& a);  // every axis but keys::axis keeps its position
Tensor    reduce_apply(const Op& op, const Tensor& x, const Axes& axes, bool keep_axes);
Tensor    repeat_reduced(const Tensor& y, const Shape& shape, const Ints& axes);  // y repeated along the reduced axes

const std::vector<const Op*>& reduce_ops();

}  // namespace braintrace
