// SPDX-License-Identifier: Apache-2.0
// More integrate-and-fire neurons: spike initiation, adaptation, internal synapses. Spikes and reset are those of LIF
// (neuron.h); only the drift after the reset differs. If the drift itself produces the spike, the upswing of the
// potential ends at V_th + (V_th - V_reset).
#pragma once

#include "braintrace/nn/neuron.h"

namespace braintrace::nn {

// LIF options with the voltages (mV) of cortical neurons. The reset is hard: after a soft reset, the drift would raise
// the potential again, and the neuron would fire without input.
LIFOptions cortical();

// τ dv/dt = F(v) + R I for a nonlinear F.
class NonlinearIF : public LIF {
 public:
  using LIF::LIF;

 protected:
  virtual Tensor F(const Tensor& v) const = 0;
  void           integrate() override { integrate_with({}); }
  // One step of V with an additional internal current.
  void integrate_with(const Tensor& own_current) const;
};

struct ExpIFOptions {
  double V_T = -59.9, delta_T = 3.48;
};
// F = -(v - V_rest) + Δ e^{min((v - V_T)/Δ, 20)}                                   Fourcaud-Trocmé et al. 2003
class ExpIF : public NonlinearIF {
 public:
  explicit ExpIF(const Size& size, ExpIFOptions exponential = {}, LIFOptions options = cortical());

 protected:
  Tensor F(const Tensor& v) const override;

 private:
  ExpIFOptions exponential_;
};

struct QuaIFOptions {
  double V_c = -50, c = 0.07;
};
// F = c (v - V_rest)(v - V_c)                                                            Latham et al. 2000
class QuaIF : public NonlinearIF {
 public:
  explicit QuaIF(const Size& size, QuaIFOptions quadratic = {}, LIFOptions options = cortical());

 protected:
  Tensor F(const Tensor& v) const override;

 private:
  QuaIFOptions quadratic_;
};

struct AdaptationOptions {
  double      a = 1, b = 1;
  TimeSetting tau_w = 30.0;
};
// An additional variable w: w₁ = w + b z, τ dv/dt = F(v) + R (I - w₁), τ_w dw/dt = a (V' - V_rest) - w
template <class Base>
class Adapting : public Base {
 public:
  template <class Form>
  Adapting(const Size& size, AdaptationOptions adaptation, Form form, LIFOptions options);

  HiddenState w;

 protected:
  void reset() override;
  void integrate() override;

 private:
  AdaptationOptions adaptation_;
};
extern template class Adapting<ExpIF>;
extern template class Adapting<QuaIF>;

// Brette & Gerstner 2005
struct AdExIF : Adapting<ExpIF> {
  explicit AdExIF(const Size& size, AdaptationOptions adaptation = {}, ExpIFOptions exponential = {},
                  LIFOptions options = cortical());
};
struct AdQuaIF : Adapting<QuaIF> {
  explicit AdQuaIF(const Size& size, AdaptationOptions adaptation = {.b = 0.1, .tau_w = 10.0},
                   QuaIFOptions quadratic = {}, LIFOptions options = cortical());
};

struct IzhikevichOptions {
  double      a = 0.02, b = 0.2, c = -65, d = 8, V_th = 30;
  Surrogate   surrogate = "relu_grad";
  Initializer V_init = -65, u_init = -13;
  StepSize    dt     = {};
  Integrator  method = Integrator::ExpEuler;  // of V
};
// dv/dt = 0.04 v² + 5 v + 140 - u + I,  du/dt = a (b v - u);  at a spike v ← c, u ← u + d         Izhikevich 2003
class Izhikevich : public Neuron {
 public:
  explicit Izhikevich(const Size& size, IzhikevichOptions options = {});
  using Neuron::get_spike;
  Tensor spikes() const override { return get_spike(V.value()); }
  Tensor get_spike(const Tensor& v) const override;

  HiddenState V, u;

 protected:
  void reset() override;
  void integrate() override;

 private:
  IzhikevichOptions options_;
};

struct GifOptions {
  double     V_th_inf = -50, V_th_reset = -60, a = 0, b = 0.01;
  double     k1 = 0.2, k2 = 0.02, R1 = 0, R2 = 1, A1 = 0, A2 = 0;  // 1/ms, -, mA
  LIFOptions membrane    = {.tau = 20.0, .V_reset = -70.0, .V_rest = -70.0, .R = 20.0, .V_init = -70};
  bool       decay_first = true;  // use I_j after their decay in this step, otherwise before
};
// Two spike-triggered currents and a moving threshold:                                Mihalas & Niebur 2009
//   spike: I_j ← R_j I_j + A_j,  V_th ← max(V_th_reset, V_th)
//   dI_j/dt = -k_j I_j,  dV_th/dt = a (V₁ - V_rest) - b (V_th - V_th_inf),  τ dv/dt = -(v - V_rest) + R (I₁ + I₂ + I)
class Gif : public Neuron {
 public:
  explicit Gif(const Size& size, GifOptions options = {});
  using Neuron::get_spike;
  Tensor spikes() const override;
  Tensor get_spike(const Tensor& v) const override { return spikes_above(V_th.value(), v); }

  HiddenState V, I1, I2, V_th;

 protected:
  double dt_ms() const { return options_.membrane.dt.ms(); }
  void   reset() override;
  void   integrate() override;

 private:
  Tensor spikes_above(const Tensor& threshold, const Tensor& v) const;

  GifOptions options_;
};

// LIF with its own exponential synapse: g' = e^{-dt/τ_syn} g + deltas; the input of the membrane is R (g' + I), or with
// a reversal potential R (g' (E - v) + I).
class SynapticLIF : public LIF {
 public:
  // `name` is the class that errors name.
  SynapticLIF(const char* name, const Size& size, TimeSetting tau_syn, std::optional<double> E,
              const LIFOptions& options);

  HiddenState g;

 protected:
  void integrate() override;

 private:
  TimeSetting           tau_syn_;
  std::optional<double> E_;
};
struct CubaLIF : SynapticLIF {
  explicit CubaLIF(const Size& size, TimeSetting tau_syn = 5.0, const LIFOptions& o = {})
      : SynapticLIF("CubaLIF", size, std::move(tau_syn), {}, o) {}
};
struct CobaLIF : SynapticLIF {
  explicit CobaLIF(const Size& size, TimeSetting tau_syn = 5.0, double E = 0, const LIFOptions& o = {})
      : SynapticLIF("CobaLIF", size, std::move(tau_syn), E, o) {}
};

}  // namespace braintrace::nn
