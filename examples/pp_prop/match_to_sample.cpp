// SPDX-License-Identifier: Apache-2.0
// Delayed match to sample: spikes of one stimulus, a pause, spikes of the same or the opposite one. Was it the same?
//
// With weak inputs (one channel at 80 Hz), the neurons never reach threshold, and two of three trials do not even
// contain spikes of both stimuli. Here the inputs are stronger: two channels at 500 Hz, and weights with twenty times
// the usual variance.
//
//   --neuron  lif or alif (a threshold that rises with each spike is itself a memory)
//   --method  single-step or multi-step, of pp_prop;  --rule BPTT: backpropagation for comparison
//
// Should reach: accuracy 0.9 on unseen trials, outputs averaged over the test.
#include "examples/pp_prop/network.h"

constexpr int64_t n_in = 16, units = 64;

std::shared_ptr<bt::nn::Neuron> neurons_of(const std::string& kind) {
  if (kind == "alif")
    return std::make_shared<bt::nn::ALIF>(units, bt::nn::ALIFOptions{.beta = 1.8}, examples::membrane);
  return std::make_shared<bt::nn::LIF>(units, examples::membrane);
}

int match(const examples::Flags& flags) {
  const examples::Millisecond ms;
  const auto task = bt::tasks::make_task(R"({"type": "dms", "active": 2, "rate_hz": 500})", flags.seed());
  bt::random::seed(flags.seed());
  examples::SpikingNet model(examples::linear(examples::input_and_recurrent(n_in, units, 20)),
                             neurons_of(flags["neuron"]), units, 2);
  examples::Settings   settings =
      flags["rule"] == "BPTT" ? examples::bptt() : examples::pp_prop(bt::TraceDecay::decay(0.97));
  settings.batch = 64;
  settings.lr    = 3e-3;
  settings.votes = true;
  if (flags["rule"] != "BPTT") settings.options.vjp_method = bt::vjp_method_named(flags["method"]);
  examples::Trainer trainer(model, *task, settings);
  examples::Curves  curves;
  examples::train(trainer, flags["rule"], flags.length(20, flags["neuron"] == "alif" ? 18 : 10), 10, curves);
  const double accuracy = trainer.test(4).accuracy;
  return examples::finish(flags, curves, accuracy >= 0.9, fmt::format("accuracy {:.3f}, goal 0.9", accuracy));
}

int main(int argc, char** argv) {
  return examples::guarded(
      match, {argc, argv, {{"neuron", "lif|alif"}, {"method", "single-step|multi-step"}, {"rule", "pp_prop|BPTT"}}});
}
