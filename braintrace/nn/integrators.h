// SPDX-License-Identifier: Apache-2.0
// Populations whose equations contain their input x, as in the Neuromorphic Intermediate Representation. One step
// updates first the synaptic current, then the potential that it drives.
//
// Integrators do not fire; they return their potential. Neurons fire and are reset like LIF (neuron.h).
#pragma once

#include "braintrace/nn/neuron.h"

namespace braintrace::nn {

// One step of dv/dt = (target - v)/τ: exact, or v + dt (target - v)/τ.
Tensor toward(Integrator method, const Tensor& v, const Tensor& target, const AnySetting& tau, double dt);

struct IntegratorOptions {
  TimeSetting       tau    = 5.0;
  VoltageSetting    V_rest = 0.0;
  ResistanceSetting R      = 1.0;
  Initializer       V_init = 0;
  StepSize          dt     = {};
  Integrator        method = Integrator::ExpEuler;
};

// Leaky integrator:   τ dv/dt = V_rest - v + R x,   y = v
class LI : public Neuron {
 public:
  explicit LI(const Size& size, IntegratorOptions options = {});
  Tensor spikes() const override { return V.value(); }
  void   reset() override {}
  void   integrate() override;

  HiddenState V;

 private:
  IntegratorOptions options_;
};

// An exponential synapse in front:   τ_syn dI/dt = -I + w_in x
struct SynapseFilter {
  TimeSetting     tau  = 5.0;
  Setting<double> w_in = 1.0;
};

// Leaky integrator of a filtered input:   τ dv/dt = V_rest - v + R I,   y = v
class CubaLI : public Neuron {
 public:
  explicit CubaLI(const Size& size, SynapseFilter synapse = {}, IntegratorOptions options = {});
  Tensor spikes() const override { return V.value(); }
  void   reset() override {}
  void   integrate() override;

  HiddenState I, V;

 private:
  SynapseFilter     synapse_;
  IntegratorOptions options_;
};

// Integrator without leak:   dv/dt = R x,   y = v                    R per ms
class PerfectIntegrator : public Neuron {
 public:
  explicit PerfectIntegrator(const Size& size, Setting<double> R = 1.0, Initializer V_init = 0, StepSize dt = {});
  Tensor spikes() const override { return V.value(); }
  void   reset() override {}
  void   integrate() override;

  HiddenState V;

 private:
  Setting<double> R_;
  StepSize        dt_;
};

struct PerfectIFOptions {
  Setting<double> R         = 1.0;  // per ms
  VoltageSetting  V_th      = 1.0;
  VoltageSetting  V_reset   = 0.0;
  Reset           reset     = Reset::Soft;
  Surrogate       surrogate = "relu_grad";
  Initializer     V_init    = 0;
  StepSize        dt        = {};
  bool            strict    = false;
};

// Integrate and fire without leak:   dv/dt = R x
class PerfectIF : public Neuron {
 public:
  explicit PerfectIF(const Size& size, PerfectIFOptions options = {});
  using Neuron::get_spike;
  Tensor spikes() const override { return get_spike(V.value()); }
  Tensor get_spike(const Tensor& v) const override;
  void   reset() override;
  void   integrate() override;

  HiddenState V;

 private:
  PerfectIFOptions options_;
};

// LIF of a filtered input:   τ dv/dt = V_rest - v + R I
class FilteredLIF : public LIF {
 public:
  explicit FilteredLIF(const Size& size, SynapseFilter synapse = {}, LIFOptions options = {});

  HiddenState I;

 protected:
  void integrate() override;

 private:
  SynapseFilter synapse_;
};

// y = x ∘ s, s the parameter "scale", which learns online
class Scale : public Module {
 public:
  explicit Scale(const Size& size, Initializer init = 1);
  Tensor update(const Tensor& x) override;

  ParamState scale;
};

// y = 1 where x > θ, else 0
class Threshold : public WithSettings {
 public:
  explicit Threshold(Setting<double> threshold = 1.0, Surrogate surrogate = "relu_grad", bool strict = true);
  Tensor update(const Tensor& x) override;

 private:
  Setting<double> threshold_;
  Surrogate       surrogate_;
  bool            strict_;
};

}  // namespace braintrace::nn
