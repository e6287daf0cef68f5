// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/model/module.h"

namespace braintrace::nn {

using braintrace::init_all_states;
using braintrace::Module;

// y = x W + b   with W : [n_in,n_out], b : [n_out], both leaves of the parameter "weight"
class Linear : public Module {
 public:
  Linear(int64_t n_in, int64_t n_out, bool bias = true);
  Tensor update(const Tensor& x) override;

  ParamState weight;
};

}  // namespace braintrace::nn
