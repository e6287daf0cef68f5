// SPDX-License-Identifier: Apache-2.0
// Integrate-and-fire neurons. One step:
//
//   z = H(u)   u: distance from threshold, from the state before the step     (its derivative is the surrogate's)
//   reset:       V₁ = V - (Θ - V_reset) z       Θ = V_th (soft) or a constant V (hard)
//   integrate: V' = one step of the drift from V₁, by default with exponential Euler, plus pending deltas
//   returns H(u')
#pragma once

#include "braintrace/nn/dynamics.h"

namespace braintrace::nn {

struct LIFOptions {
  TimeSetting       tau       = 5.0;
  VoltageSetting    V_th      = 1.0;
  VoltageSetting    V_reset   = 0.0;
  VoltageSetting    V_rest    = 0.0;
  ResistanceSetting R         = 1.0;
  Reset             reset     = Reset::Soft;
  Surrogate         surrogate = "relu_grad";
  Initializer       V_init    = 0;
  StepSize          dt        = {};
  Integrator        method    = Integrator::ExpEuler;  // of V
  bool              strict    = false;                 // z = 1 where u > 0: no spike exactly at the threshold

  // These options; throws a UserError that names the class `neuron` if they are not valid.
  LIFOptions checked(const char* neuron) const;
};

// Leaky integrate and fire:   τ dv/dt = -v + V_rest + R I,   u = (V - V_th)/(V_th - V_reset)
class LIF : public Neuron {
 public:
  explicit LIF(const Size& size, LIFOptions options = {});
  using Neuron::get_spike;
  Tensor spikes() const override { return get_spike(V.value()); }
  Tensor get_spike(const Tensor& v) const override;

  HiddenState V;

 protected:
  double dt_ms() const { return options_.dt.ms(); }
  void   reset() override { reset_potential(spikes()); }
  void   integrate() override;
  void   reset_potential(const Tensor& z) const;

  LIFOptions options_;
};

// LIF with V_reset = V_rest = 0:   τ dv/dt = -v + R I
class IF : public LIF {
 public:
  explicit IF(const Size& size, LIFOptions options = {});
};

struct ALIFOptions {
  TimeSetting    tau_a  = 100.0;
  VoltageSetting beta   = 0.1;
  Initializer    a_init = 0;
};

// LIF with an adaptive threshold:   u = (V - V_th - β a)/(V_th - V_reset),  a₁ = a + z,  τ_a da/dt = -a
class ALIF : public LIF {
 public:
  ALIF(const Size& size, ALIFOptions adaptation = {}, LIFOptions options = {});
  using LIF::get_spike;
  Tensor get_spike(const Tensor& v) const override;

  HiddenState a;

 protected:
  void reset() override;
  void integrate() override;

 private:
  ALIFOptions adaptation_;
};

struct GIFOptions {
  TimeSetting       tau        = 20.0;
  TimeSetting       tau_I2     = 50.0;
  CurrentSetting    A2         = 0.0;
  VoltageSetting    V_th       = 1.0;
  VoltageSetting    V_rest     = 0.0;
  ResistanceSetting R          = 1.0;
  Surrogate         surrogate  = "relu_grad";
  bool              hold_reset = false;  // no derivative through z in V₁ and I₁
  Initializer       V_init = 0, I2_init = 0;
  StepSize          dt = {};
};

// Generalized integrate and fire with one spike-triggered current:   u = (V - V_th)/V_th
//   V₁ = V - V_th z,   I₁ = I2 - A2 z,   τ_I2 dI2/dt = -I2,   τ dv/dt = -v + V_rest + R (I + I2')
class GIF : public Neuron {
 public:
  explicit GIF(const Size& size, GIFOptions options = {});
  using Neuron::get_spike;
  Tensor spikes() const override { return get_spike(V.value()); }
  Tensor get_spike(const Tensor& v) const override;

  HiddenState V, I2;

 protected:
  void reset() override;
  void integrate() override;

 private:
  GIFOptions options_;
};

}  // namespace braintrace::nn
