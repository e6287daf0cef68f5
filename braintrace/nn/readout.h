// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/nn/neuron.h"

namespace braintrace::nn {

struct ReadoutOptions {
  units::Time tau    = units::Time(5);
  Initializer w_init = init::plain::kaiming_normal();
  Initializer r_init = 0;
  StepSize    dt     = {};
};

// r ← e^{-dt/τ} r + x W;   returns r.   W : [I,O] is the parameter "W". The decay is fixed when the layer is made.
class LeakyRateReadout : public Module {
 public:
  LeakyRateReadout(const Size& in_size, const Size& out_size, ReadoutOptions options = {});
  Tensor update(const Tensor& x) override;

  ParamState  W;
  HiddenState r;

 private:
  double decay_;
};

}  // namespace braintrace::nn
