// SPDX-License-Identifier: Apache-2.0
// Pooling: reductions over windows that slide along axes.
#pragma once

#include "braintrace/ops/conv.h"

namespace braintrace {

extern const Op window_argmax_op, window_max_op, window_sum_op;

struct PoolOptions {
  Ints        window;   // one size per spatial axis
  Ints        stride;   // empty: the window, so that windows do not overlap
  Padding     padding;  // padding is ignored, in a maximum and in a mean
  std::string layout;   // "NHWC": N and C are kept, the other axes pooled. Empty: channels last
};
// The derivative goes to the first of equal maxima in row-major order. If a window contains a NaN, its maximum is NaN.
Tensor max_pool(const Tensor& x, const PoolOptions& options);
Tensor mean_pool(const Tensor& x, const PoolOptions& options);
Tensor sum_pool(const Tensor& x, const PoolOptions& options);

const std::vector<const Op*>& pool_ops();

}  // namespace braintrace
