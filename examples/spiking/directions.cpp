// SPDX-License-Identifier: Apache-2.0
// Delayed match to sample at the time scale of the experiments: a direction is shown for half a second, then nothing
// for a second, then the same or another direction. 200 neurons with slow currents; factorized traces (pp_prop, decay
// 0.99) carry the credit over the delay. Only the test phase has a loss.
//
// The quick run has 90 ms instead of 2 s. Should reach: accuracy 0.9 on unseen trials.
#include "examples/support.h"

namespace {

struct Net : bt::nn::Module {
  bt::nn::Linear           input;
  bt::nn::Expon            synapse;
  bt::nn::GIF              neurons;
  bt::nn::LeakyRateReadout out;

  // g ← e^{-dt/τ} g + input([x; z]) is the current of the neurons.
  Net(int64_t n_in, int64_t n, double tau, double tau_slow)
      : input(n_in + n, n, {.w_init = bt::nn::init::plain::kaiming_normal(20), .b_init = bt::nn::no_bias}),
        synapse(n, tau),
        neurons(n, {.tau = tau, .tau_I2 = bt::nn::init::uniform(tau, tau_slow)({n}), .A2 = 1.0, .hold_reset = true}),
        out(n, 2, {.tau = bt::units::Time(tau)}) {
    children({{"input", input}, {"synapse", synapse}, {"neurons", neurons}, {"out", out}});
  }
  bt::Tensor update(const bt::Tensor& x) override {
    neurons(synapse(input(bt::nn::joined(x, neurons.spikes()))));
    return out(neurons.spikes());
  }
};

int match(const examples::Flags& flags) {
  const bt::Environment::Scope ms({.dt = 1.0});
  const auto task = bt::tasks::make_task(flags.quick() ? R"({"type": "dms_full", "channels": 32, "directions": 2,
                                             "rate_hz": 400, "sample_ms": 30, "delay_ms": 20, "test_ms": 30})"
                                                       : R"({"type": "dms_full"})",
                                         flags.seed());
  bt::random::seed(flags.seed());
  Net model(task->facts().input[0], flags.count("units"), flags.length(100, 20), flags.length(2250, 200));
  examples::Settings settings{.rule = "pp_prop", .batch = flags.count("batch"), .lr = flags.real("lr"), .votes = true};
  settings.options.decay_or_rank = bt::TraceDecay::decay(0.99);
  examples::Trainer trainer(model, *task, settings);
  examples::Curves  curves;
  examples::train(trainer, "pp_prop", flags.count("epochs"), 10, curves,
                  [](const examples::Score& s) { return s.accuracy >= 0.95; });
  const double accuracy = trainer.test(4).accuracy;
  return examples::finish(flags, curves, accuracy >= 0.9,
                          fmt::format("accuracy {:.3f} on unseen trials, goal 0.9", accuracy));
}

}  // namespace

int main(int argc, char** argv) {
  return examples::guarded(
      match,
      {argc, argv, {{"units", {"200", "64"}}, {"batch", {"128", "64"}}, {"epochs", {"40", "20"}}, {"lr", "0.003"}}});
}
