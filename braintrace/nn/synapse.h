// SPDX-License-Identifier: Apache-2.0
// Synapses, their effect on a membrane, and projections that connect populations.
#pragma once

#include "braintrace/nn/dynamics.h"

namespace braintrace::nn {

// A synapse takes presynaptic input during a step and returns a conductance (or current) g.
class Synapse : public WithSettings {
 public:
  void add_delta(const Tensor& x);  // input of the next step, which consumes it
  // One step with an additional input x (may be undefined); returns g after it.
  Tensor update(const Tensor& x) override;

 protected:
  virtual Tensor advance() = 0;
  Tensor         with_delta(const Tensor& g) const;

 private:
  std::shared_ptr<Tensors> deltas_ = std::make_shared<Tensors>();
};

// τ dg/dt = -g;   g ← g + x
class Expon : public Synapse {
 public:
  explicit Expon(const Size& size, TimeSetting tau = 8.0, StepSize dt = {}, Initializer g_init = 0);
  HiddenState g;

 protected:
  Tensor advance() override;

 private:
  TimeSetting tau_;
  StepSize    dt_;
};

struct DualExponOptions {
  TimeSetting tau_decay = 10.0, tau_rise = 1.0;
  double      A         = 1;
  bool        normalize = true;  // peak A:  A τd/(τd-τr) (τr/τd)^{τr/(τr-τd)}
  StepSize    dt        = {};
};

// Two exponentials, both fed by x:   output A (g_decay - g_rise)
class DualExpon : public Synapse {
 public:
  explicit DualExpon(const Size& size, DualExponOptions options = {});
  HiddenState g_rise, g_decay;

 protected:
  Tensor advance() override;

 private:
  DualExponOptions options_;
  double           A_;
};

// τ dg/dt = -g + h,   τ dh/dt = -h;   h ← h + x
class Alpha : public Synapse {
 public:
  explicit Alpha(const Size& size, TimeSetting tau = 8.0, StepSize dt = {});
  HiddenState g, h;

 protected:
  Tensor advance() override;

 private:
  TimeSetting tau_;
  StepSize    dt_;
};

struct STPOptions {
  double      U     = 0.15;
  TimeSetting tau_f = 1500.0, tau_d = 200.0;
  StepSize    dt = {};
};

// Short-term plasticity of spikes z:                                                Tsodyks & Markram 1997
//   u ← e^{-dt/τf} u + z U (1-u),  x' = 1 + e^{-dt/τd}(x-1),  output u x' z,  x ← x' - z u x
class STP : public WithSettings {
 public:
  explicit STP(const Size& size, STPOptions options = {});
  Tensor      update(const Tensor& z) override;
  HiddenState x, u;

 private:
  STPOptions options_;
};

struct STDOptions {
  TimeSetting tau = 200.0;
  double      U   = 0.07;
  StepSize    dt  = {};
};

// Short-term depression:   x' = 1 + e^{-dt/τ}(x-1),  output x' z,  x ← x' - z U x
class STD : public WithSettings {
 public:
  explicit STD(const Size& size, STDOptions options = {});
  Tensor      update(const Tensor& z) override;
  HiddenState x;

 private:
  STDOptions options_;
};

// The effect of g on a neuron: adds to its current.
using SynapseOutput = std::function<void(Neuron& post, const Tensor& g)>;

SynapseOutput cuba(double scale = 1);         // I = scale g
SynapseOutput coba(const VoltageSetting& E);  // I = g (E - V)
struct MgBlockOptions {
  double E = 0, Mg = 1.2, alpha = 0.062, beta = 3.57, V_offset = 0;
};
SynapseOutput mg_block(MgBlockOptions options = {});  // I = g (E - V) / (1 + [Mg]/β e^{α(V_off - V)})

// comm(x) is added to the potential of `post` after its next step.
class DeltaProj : public Module {
 public:
  DeltaProj(std::shared_ptr<Module> comm, std::shared_ptr<Neuron> post);
  Tensor update(const Tensor& x) override;  // returns comm(x)

 private:
  std::shared_ptr<Module> comm_;
  std::shared_ptr<Neuron> post_;
};

// comm(x) drives a synapse that `post` updates before its own step; its g reaches `post` through `out`. Projections
// with the same synapse share it: it makes one step and sums their inputs.
class AlignPostProj : public Module {
 public:
  AlignPostProj(std::shared_ptr<Module> comm, std::shared_ptr<Synapse> syn, SynapseOutput out,
                std::shared_ptr<Neuron> post);
  Tensor update(const Tensor& x) override;  // returns comm(x)

 private:
  std::shared_ptr<Module>  comm_;
  std::shared_ptr<Synapse> syn_;
};

// x drives a synapse of the size of its source, and comm(g) reaches `post` through `out` in the same step: one synapse
// state per source, for any number of targets. The weights are applied after the filter.
class AlignPreProj : public Module {
 public:
  AlignPreProj(std::shared_ptr<Synapse> syn, std::shared_ptr<Module> comm, SynapseOutput out,
               std::shared_ptr<Neuron> post);
  Tensor update(const Tensor& x) override;  // returns comm(g)

 private:
  std::shared_ptr<Synapse> syn_;
  std::shared_ptr<Module>  comm_;
  SynapseOutput            out_;
  std::shared_ptr<Neuron>  post_;
};

// comm(x) is the conductance of this step.
class CurrentProj : public Module {
 public:
  CurrentProj(std::shared_ptr<Module> comm, SynapseOutput out, std::shared_ptr<Neuron> post);
  Tensor update(const Tensor& x) override;

 private:
  std::shared_ptr<Module> comm_;
  SynapseOutput           out_;
  std::shared_ptr<Neuron> post_;
};

}  // namespace braintrace::nn
