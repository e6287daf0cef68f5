// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "braintrace/nn/linear.h"

namespace braintrace::nn {

using Activation = std::function<Tensor(const Tensor&)>;

// h ← φ( W [x; h] + b )
class ValinaRNNCell : public Module {
 public:
  ValinaRNNCell(int64_t n_in, int64_t n_rec);
  Tensor update(const Tensor& x) override;

  Linear      W;
  HiddenState h;
  Activation  activation;
};

}  // namespace braintrace::nn
