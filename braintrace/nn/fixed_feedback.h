// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/base/default_float.h"
#include "braintrace/ir/tensor.h"

namespace braintrace {

// Projects the errors of a target to the units of a layer with fixed weights. Lillicrap et al. 2016
//
//   project(y) = y B          y : […,n_target]   B = init_scale · N(0,1) : [n_target,n_layer]
class FixedRandomFeedback {
 public:
  FixedRandomFeedback(int64_t n_target, int64_t n_layer, uint64_t key, double init_scale = 0.1,
                      DType dtype = default_float());

  Tensor        project(const Tensor& y) const;
  const Tensor& matrix() const { return B_; }

 private:
  Tensor B_;
};

}  // namespace braintrace
