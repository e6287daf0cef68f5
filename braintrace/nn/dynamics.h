// SPDX-License-Identifier: Apache-2.0
// Integration of differential equations, one step at a time, and the base class of neurons defined by them.
//
// To define a neuron by its equations, derive from Neuron, declare its states, and write one step.
//
//   struct QIF : bt::nn::Neuron {                                     dv/dt = v² + I,  v ← -1 after a spike
//     bt::HiddenState V;
//     explicit QIF(int64_t n) : V(state("V", bt::nn::hidden_state({n}))) {}
//     bt::Tensor spikes() const override { return bt::spike(V.value() - 1); }
//     void reset() override { V.set(bt::nn::after_reset(V.value(), spikes(), 1, -1, bt::nn::Reset::Hard)); }
//     void integrate() override {
//       V.set(with_delta(bt::nn::exp_euler([&](const bt::Tensor& v) { return v * v + current(v); }, V.value(), 0.1)));
//     }
//   };
#pragma once

#include <functional>
#include <memory>

#include "braintrace/nn/layer.h"
#include "braintrace/nn/setting.h"
#include "braintrace/ops/spike.h"

namespace braintrace::nn {

using Drift = std::function<Tensor(const Tensor& v)>;  // dv/dt, position by position

// (e^z - 1)/z, also near z = 0
Tensor exprel(const Tensor& z);
// v' = v + dt exprel(dt J) f(v), J = ∂f/∂v: exact for linear f. dt J is bounded so that e^{dt J} uses at most half of
// the exponent range of v's type, and the upswing of a spike does not overflow.
Tensor exp_euler(const Drift& f, const Tensor& v, double dt);
// v' = v + dt f(v)
Tensor euler(const Drift& f, const Tensor& v, double dt);

enum class Integrator : uint8_t { ExpEuler, Euler };
Integrator       integrator_named(const std::string& name);  // exp_euler, euler
std::string_view name_of(Integrator method);
Tensor           integrated(Integrator method, const Drift& f, const Tensor& v, double dt);

enum class Reset : uint8_t { Soft, Hard };
Reset            reset_named(const std::string& name);  // soft, hard
std::string_view name_of(Reset reset);

class Neuron;

// Called by the neuron before each of its steps; may add to its inputs. Example: a synapse with its output.
using BeforeUpdate = std::function<void(Neuron&)>;

class Neuron : public WithSettings {
 public:
  // Inputs of the next step, which consumes them. Currents may depend on the membrane potential.
  void add_current(const Tensor& I);
  void add_current(std::function<Tensor(const Tensor& v)> I);
  void add_delta(const Tensor& d);  // added to the potential after the step
  // Runs at the start of every step, in the order of registration; one entry per key.
  void before_update(const void* key, BeforeUpdate hook);

  // One step with an additional current I (may be undefined); returns the spikes after it.
  Tensor update(const Tensor& I) override;
  Tensor update_without_current() { return update(Tensor()); }

  virtual Tensor spikes() const = 0;  // of the current state
  Tensor         get_spike() const { return spikes(); }
  // The same with the potential v instead of the current one, if the class supports it.
  virtual Tensor get_spike(const Tensor& v) const;

  // One step in two parts: the reset after the previous spikes, and dt of the dynamics.
  virtual void reset()     = 0;
  virtual void integrate() = 0;
  // Pending inputs, for use inside `integrate`.
  bool   current_reads_potential() const;
  Tensor current(const Tensor& v) const;     // sum of currents, zero if there are none
  Tensor with_delta(const Tensor& v) const;  // v plus the pending deltas
  // For a custom `update`: runs what precedes a step, then `step`, and consumes the pending inputs. Inside a step it is
  // `step` alone.
  Tensor stepped(const std::function<Tensor()>& step);

 private:
  struct Inputs {
    std::vector<Tensor>                               constant, deltas;
    std::vector<std::function<Tensor(const Tensor&)>> of_potential;
    std::vector<std::pair<const void*, BeforeUpdate>> hooks;
    bool                                              stepping = false;
  };
  std::shared_ptr<Inputs> inputs_ = std::make_shared<Inputs>();
};

// (1 - z) a + z b: a where z = 0, b where z = 1, without rounding error for any a and b; differentiable in all three
Tensor blended(const Tensor& z, const Tensor& a, const Tensor& b);
// Soft: v - (V_th - V_reset) z. Hard: v - (v̄ - V_reset) z with constant v̄; exactly V_reset where z = 1.
Tensor after_reset(const Tensor& v, const Tensor& z, const Tensor& V_th, const Tensor& V_reset, Reset kind);
// H(strictly(u)) = 1 where u > 0, while H(u) = 1 where u ≥ 0; the derivative is that of u.
Tensor strictly(const Tensor& u);
// H(u), u = (v - V_th)/(V_th - V_reset), or H(strictly(u))
Tensor spikes_above(const Tensor& v, const Tensor& V_th, const Tensor& V_reset, const Surrogate& surrogate,
                    bool strict);
// min(v, V_th + (V_th - V_reset)): models whose potential diverges in finite time end their upswing at u = (v -
// V_th)/(V_th - V_reset) = 1. Beyond that, the potential only indicates a spike.
Tensor end_of_upswing(const Tensor& v, const Tensor& V_th, const Tensor& V_reset);

}  // namespace braintrace::nn
