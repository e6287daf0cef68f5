// SPDX-License-Identifier: Apache-2.0
// Reductions over axes. Without axes all are reduced.
#pragma once

#include <optional>

#include "braintrace/ops/families.h"

namespace braintrace {

extern const Op reduce_sum_op;

using Axes = std::optional<Ints>;

Tensor sum(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);

const std::vector<const Op*>& reduce_ops();

}  // namespace braintrace
