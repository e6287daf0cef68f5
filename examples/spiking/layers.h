// SPDX-License-Identifier: Apache-2.0
// Layers of spiking neurons with recurrent connections; leaky integrators read out the last layer.
#pragma once

#include "examples/support.h"

namespace examples {

struct SpikingLayers : bt::nn::Module {
  std::vector<std::shared_ptr<bt::nn::Neuron>> neurons;
  std::vector<std::shared_ptr<bt::nn::Module>> inputs;  // [x; z] → what drives the neurons
  bt::nn::LeakyRateReadout                     out;

  SpikingLayers(int64_t n, int64_t classes, double tau) : out(n, classes, {.tau = bt::units::Time(tau)}) {}

  bt::Tensor update(const bt::Tensor& x) override {
    bt::Tensor z = x;
    for (size_t i = 0; i < neurons.size(); ++i) {
      (*inputs[i])(bt::nn::joined(z, neurons[i]->spikes()));
      z = neurons[i]->update_without_current();
    }
    return out(z);
  }
};

}  // namespace examples
