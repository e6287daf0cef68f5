// SPDX-License-Identifier: Apache-2.0
// Working memory: a binary vector is shown for the first fifth of the time and is the target at every step. The neurons
// have slow currents (time constants from 80 to 200 ms) that outlast the stimulus.
//
// Synaptic currents enter the drift of the neurons; without them, a neuron would stay at rest.
//
// Should reach: loss below 0.2 (the mean of the two values: 0.25), potentials not at rest.
#include "examples/pp_prop/network.h"

constexpr int64_t width = 8, units = 64;

int remember(const examples::Flags& flags) {
  const examples::Millisecond ms;
  bt::random::seed(flags.seed());
  const auto task    = bt::tasks::make_task(R"({"type": "working_memory"})", flags.seed());
  const auto neurons = std::make_shared<bt::nn::GIF>(
      units, bt::nn::GIFOptions{.tau = 20.0, .tau_I2 = bt::nn::init::uniform(80, 200)({units}), .A2 = -0.5});
  examples::SpikingNet model(examples::linear(examples::input_and_recurrent(width, units)), neurons, units, width);
  examples::Trainer    trainer(model, *task, examples::pp_prop(bt::TraceDecay::decay(0.98)));
  examples::Curves     curves;
  const auto           scores = examples::train(trainer, "pp_prop", flags.length(20, 12), 10, curves);
  const double         V      = bt::max(bt::abs(neurons->V.value())).item();
  return examples::finish(flags, curves, scores.back().loss < 0.2 && V > 0.1,
                          fmt::format("loss {:.3f}, goal 0.2; largest potential {:.2f} mV", scores.back().loss, V));
}

int main(int argc, char** argv) { return examples::guarded(remember, {argc, argv}); }
