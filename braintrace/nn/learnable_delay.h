// SPDX-License-Identifier: Apache-2.0
// Delays that learn. The past is interpolated between steps, so that a delay has a derivative:
//
//   y_t = Σ_k w(k - d) x_{t-k},   d = delay/dt,   w(u) = max(0, 1 - |u|/s)/s
//
// With s = 1 this is linear interpolation between the two neighbors of d, and ∂y/∂d their difference. A wider kernel (s
// = 2, 3, …) blurs the input, so that the derivative covers more steps; this is needed if spikes are rarer than one in
// s steps.
//
// The past is a hidden state of stacked slots, one per step, so that traces follow weights before the delay: D-RTRL is
// exact for the delay, and for a weight whose product reaches a neuron of the same unit through the delay. Each slot
// needs as much trace memory as a state.
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
  // One delay per unit, between 0 and `max` ms; outside this range, the delay is clamped and has no derivative.
  LearnableDelay(const Size& size, units::Time max, LearnableDelayOptions options = {});
  Tensor update(const Tensor& x) override;

  ParamState       delay;   // ms, one per unit
  HiddenGroupState buffer;  // [(B,) *size, K], oldest first

 private:
  double  dt_, max_;
  int64_t width_;
};

}  // namespace braintrace::nn
