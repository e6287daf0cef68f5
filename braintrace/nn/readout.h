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

// r ← e^{-dt/τ} r + x W; returns r. W : [I,O] is the parameter "W". The decay is fixed when the layer is created.
class LeakyRateReadout : public Module {
 public:
  LeakyRateReadout(const Size& in_size, const Size& out_size, ReadoutOptions options = {});
  Tensor update(const Tensor& x) override;

  ParamState  W;
  HiddenState r;

 private:
  double decay_;
};

// A LIF population as output: V ← e^{-dt/τ} V + x W with reset; returns spikes.
class LeakySpikeReadout : public Module {
 public:
  LeakySpikeReadout(const Size& in_size, const Size& out_size, LIFOptions neuron = {},
                    Initializer w_init = init::plain::kaiming_normal());
  Tensor update(const Tensor& x) override;

  ParamState W;
  LIF        neuron;
};

// Counts spikes: n ← n + z; returns n.
class SpikeCountReadout : public Module {
 public:
  explicit SpikeCountReadout(const Size& size);
  Tensor update(const Tensor& z) override;

  HiddenState n;
};

// The time (ms) of the first spike of each unit, `never` until then. It has no derivative.
class FirstSpikeReadout : public Module {
 public:
  explicit FirstSpikeReadout(const Size& size, double never = 1e7, StepSize dt = {});
  Tensor update(const Tensor& z) override;

  ShortTermState t_first, t;

 private:
  double   never_;
  StepSize dt_;
};

// x of `steps` steps ago; zeros before that.
class Delay : public Module {
 public:
  Delay(const Size& size, int64_t steps);
  Tensor update(const Tensor& x) override;

  ShortTermState buffer;  // [steps, (B,) *size], oldest first
};

}  // namespace braintrace::nn
