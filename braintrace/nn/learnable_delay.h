// SPDX-License-Identifier: Apache-2.0
// Delays that learn. Between two steps the past is interpolated, so that a delay has a derivative:
//
//   y_t = Σ_k w(k - d) x_{t-k},   d = delay/dt,   w(u) = max(0, 1 - |u|/s)/s
//
// With s = 1 this is linear interpolation between the two neighbors of d, and ∂y/∂d their difference. A wider kernel
// (s = 2, 3, …) blurs the input and lets the derivative see further; spikes that are rarer than s steps need that.
//
// The past is a hidden state of stacked slots, one per step, so that the gradient of what comes before the delay is
// carried through it: a weight whose product a delay hands on to a neuron of the same unit learns exactly under D-RTRL,
// and so does the delay itself. Each slot costs as much trace as a state.
#pragma once

#include "braintrace/nn/layer.h"
#include "braintrace/nn/setting.h"

namespace braintrace::nn {

struct LearnableDelayOptions {
  std::optional<Initializer> delay;  // ms; default: uniform in [0, max]
  StepSize                   dt    = {};
  int64_t                    width = 1;  // s
};

class LearnableDelay : public Module {
 public:
  // Delays of each unit between 0 and `max` ms; beyond that they stay at the bound and get no derivative.
  LearnableDelay(const Size& size, units::Time max, LearnableDelayOptions options = {});
  Tensor update(const Tensor& x) override;

  ParamState       delay;   // ms, one per unit
  HiddenGroupState buffer;  // [(B,) *size, K], oldest first

 private:
  double  dt_, max_;
  int64_t width_;
};

}  // namespace braintrace::nn
