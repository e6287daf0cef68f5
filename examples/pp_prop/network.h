// SPDX-License-Identifier: Apache-2.0
// The network of this series: spiking neurons driven by exponential synapses, read out by leaky integrators.
//
//   g ← e^{-dt/10} g + comm([x; z])      z: the neurons' own spikes of the previous step
//   a neuron driven by the current g     τ = 20 ms, V_th = 1 mV
//   r ← e^{-dt/10} r + z W               output of the network
#pragma once

#include "examples/support.h"

namespace examples {

// The weights [x; z] → neurons, with Kaiming's variance, scaled separately for inputs and for spikes.
inline bt::Tensor input_and_recurrent(int64_t n_in, int64_t n, double ff_scale = 2, double rec_scale = 1) {
  using bt::nn::init::plain::kaiming_normal;
  const bt::Tensor ff = kaiming_normal(ff_scale)({n_in, n}), rec = kaiming_normal(rec_scale)({n, n});
  return bt::concat({ff, rec}, 0);
}

inline std::shared_ptr<bt::nn::Module> linear(const bt::Tensor& weights, bt::nn::WeightFactor mask = {}) {
  return std::make_shared<bt::nn::Linear>(
      weights.shape()[0], weights.shape()[1],
      bt::nn::LinearOptions{.w_init = weights, .b_init = bt::nn::no_bias, .w_mask = std::move(mask)});
}

inline const bt::nn::LIFOptions membrane{.tau = 20.0};

// While it lives, the time step of everything that is built and run is 1 ms.
struct Millisecond {
  bt::Environment::Scope scope{{.dt = 1.0}};
};

struct SpikingNet : bt::nn::Module {
  std::shared_ptr<bt::nn::Neuron> neurons;
  bt::nn::AlignPostProj           input;
  bt::nn::LeakyRateReadout        out;

  SpikingNet(std::shared_ptr<bt::nn::Module> comm, std::shared_ptr<bt::nn::Neuron> population, int64_t n, int64_t n_out)
      : neurons(population),
        input(std::move(comm), std::make_shared<bt::nn::Expon>(n, 10.0), bt::nn::cuba(), population),
        out(n, n_out, {.tau = bt::units::Time(10)}) {
    children({{"neurons", *neurons}, {"input", input}, {"out", out}});
  }
  bt::Tensor update(const bt::Tensor& x) override {
    input(bt::nn::joined(x, neurons->spikes()));
    return out(neurons->update_without_current());
  }
};

// pp_prop with the settings of this series: Adam, gradients clipped to norm 1, losses summed over the steps.
inline Settings pp_prop(bt::TraceDecay decay) {
  Settings s{.rule = "pp_prop", .clip = 1.0, .reduction = bt::Reduction::Sum};
  s.options.decay_or_rank = decay;
  return s;
}
inline Settings bptt() { return {.rule = "BPTT", .clip = 1.0, .reduction = bt::Reduction::Sum}; }

}  // namespace examples
