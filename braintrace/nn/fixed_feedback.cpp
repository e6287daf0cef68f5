// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/fixed_feedback.h"

#include "braintrace/base/error.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/random.h"

namespace braintrace {

FixedRandomFeedback::FixedRandomFeedback(int64_t n_target, int64_t n_layer, uint64_t key, double init_scale,
                                         DType dtype) {
  require(n_target > 0 && n_layer > 0, "FixedRandomFeedback: sizes must be positive, got {} and {}.", n_target,
          n_layer);
  B_ = init_scale * random::normal(random::key(key), {n_target, n_layer}, dtype);
}

Tensor FixedRandomFeedback::project(const Tensor& y) const {
  require(y.rank() > 0 && y.shape().back() == B_.shape()[0],
          "FixedRandomFeedback: the last axis of the target must be {}, got {}.", B_.shape()[0], to_string(y.type()));
  return dot(y, B_);
}

}  // namespace braintrace
