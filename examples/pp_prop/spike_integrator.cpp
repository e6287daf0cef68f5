// SPDX-License-Identifier: Apache-2.0
// The simplest example of pp_prop: 48 leaky integrate-and-fire neurons count input spikes. The rule keeps a filtered
// input and a filtered sensitivity per neuron, not a trace of the size of the weights.
//
//   --lanes  yes: one learner per sample, mapped over the batch;  no: one learner for the batch
//   --decay  of the two filters;  --rank r is the decay (r-1)/(r+1)
//   --sweep  yes: decays 0.9, 0.95, 0.99 and ranks 3, 10, 40 in turn
//
// Should reach: the loss falls below 0.8 of the first, also for every setting of the sweep.
#include "examples/pp_prop/network.h"

int count_spikes(const examples::Flags& flags) {
  const examples::Millisecond ms;
  const auto                  task = bt::tasks::make_task(R"({"type": "spike_integrator"})", flags.seed());
  examples::Curves            curves;
  bool                        reached = true;
  const auto                  run     = [&](const std::string& name, bt::TraceDecay decay) {
    bt::random::seed(flags.seed());
    examples::SpikingNet model(examples::linear(examples::input_and_recurrent(1, 48)),
                                                    std::make_shared<bt::nn::LIF>(48, examples::membrane), 48, 1);
    examples::Settings   settings = examples::pp_prop(decay);
    settings.lanes                = flags.yes("lanes");
    examples::Trainer trainer(model, *task, settings);
    const auto        scores = examples::train(trainer, name, flags.length(20, 10), 5, curves);
    reached                  = reached && scores.back().loss < 0.8 * scores.front().loss;
  };
  if (flags.yes("sweep")) {
    for (double d : {0.9, 0.95, 0.99}) run(fmt::format("decay {}", d), bt::TraceDecay::decay(d));
    for (int r : {3, 10, 40}) run(fmt::format("rank {}", r), bt::TraceDecay::rank(r));
  } else if (flags["rank"] != "0") {
    run("rank " + flags["rank"], bt::TraceDecay::rank(static_cast<int>(flags.count("rank"))));
  } else {
    run("decay " + flags["decay"], bt::TraceDecay::decay(flags.real("decay")));
  }
  return examples::finish(flags, curves, reached, "the loss falls below 0.8 of the first");
}

int main(int argc, char** argv) {
  return examples::guarded(count_spikes,
                           {argc, argv, {{"lanes", "yes|no"}, {"decay", "0.95"}, {"rank", "0"}, {"sweep", "no|yes"}}});
}
