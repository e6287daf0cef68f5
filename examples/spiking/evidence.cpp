// SPDX-License-Identifier: Apache-2.0
// Evidence accumulation (Bellec et al. 2020): cues appear on the left and the right, then there is a delay, then the
// network must report the side with more cues. Excitatory and inhibitory neurons, each with a slow current; the neuron
// determines the sign of its synapses (Dale's law).
//
// The slow current is excitatory. Factorized traces combine old inputs with the current sensitivity: this has the right
// sign if the memory acts in the same direction as the input, and the network learns the opposite answer if it acts
// against it (A2 > 0).
//
//   --synapse  coba: conductances with reversal potentials +5 and -10 mV;  cuba: currents of either sign
//   --rule     ES_D_RTRL: factorized traces;  D_RTRL: one trace per weight;  BPTT
//   --decay    of the factorized traces, per ms: they must outlast the delay
//   --A2       what a spike subtracts from the slow current
//
// The full run has seven cues in 2.2 s, the quick one three in 0.3 s.
// Should reach: accuracy 0.9 on unseen trials, the output summed over the recall.
#include "examples/support.h"

namespace {

// 80% of the neurons are excitatory, 20% inhibitory. Input and excitatory synapses share a conductance.
struct Net : bt::nn::Module {
  int64_t                                n, n_exc;
  std::shared_ptr<bt::nn::GIF>           neurons;
  std::shared_ptr<bt::nn::Expon>         g_exc, g_inh;
  std::shared_ptr<bt::nn::SignedWLinear> w_in, w_exc, w_inh;
  bt::nn::AlignPostProj                  from_input, from_exc, from_inh;
  bt::nn::LeakyRateReadout               out;

  Net(int64_t n_in, int64_t units, double tau_a, double A2, bool conductances)
      : n(units),
        n_exc(units * 4 / 5),
        neurons(std::make_shared<bt::nn::GIF>(
            n, bt::nn::GIFOptions{.tau = 20.0, .tau_I2 = bt::nn::init::uniform(100, 2 * tau_a)({n}), .A2 = A2})),
        g_exc(std::make_shared<bt::nn::Expon>(n, 10.0)),
        g_inh(conductances ? std::make_shared<bt::nn::Expon>(n, 10.0) : g_exc),
        w_in(weights(n_in, conductances ? 0.3 : 3, {})),
        w_exc(weights(n_exc, 0.1, {})),
        w_inh(weights(n - n_exc, 0.4, conductances ? bt::Tensor() : bt::full({}, -1))),
        from_input(w_in, g_exc, conductances ? bt::nn::coba(5.0) : bt::nn::cuba(), neurons),
        from_exc(w_exc, g_exc, conductances ? bt::nn::coba(5.0) : bt::nn::cuba(), neurons),
        from_inh(w_inh, g_inh, conductances ? bt::nn::coba(-10.0) : bt::nn::cuba(), neurons),
        out(n, 2, {.tau = bt::units::Time(10)}) {
    children({{"neurons", *neurons},
              {"from_input", from_input},
              {"from_exc", from_exc},
              {"from_inh", from_inh},
              {"out", out}});
  }
  std::shared_ptr<bt::nn::SignedWLinear> weights(int64_t from, double scale, const bt::Tensor& sign) const {
    return std::make_shared<bt::nn::SignedWLinear>(
        from, n, bt::nn::SignedWLinearOptions{.w_init = bt::nn::init::plain::kaiming_normal(scale), .w_sign = sign});
  }
  bt::Tensor update(const bt::Tensor& x) override {
    const bt::Tensor z = neurons->spikes();
    from_input(x);
    from_exc(bt::slice_axis(z, -1, 0, n_exc));
    from_inh(bt::slice_axis(z, -1, n_exc, n));
    return out(neurons->update_without_current());
  }
};

int decide(const examples::Flags& flags) {
  const bt::Environment::Scope ms({.dt = 1.0});
  const auto task = bt::tasks::make_task(flags.quick() ? R"({"type": "evidence", "cues": 3, "gap_ms": 10, "cue_ms": 40,
                                                             "delay_ms": 100, "recall_ms": 50})"
                                                       : R"({"type": "evidence"})",
                                         flags.seed());
  bt::random::seed(flags.seed());
  Net                model(task->facts().input[0], flags.count("units"), flags.length(1500, 200), flags.real("A2"),
                           flags["synapse"] == "coba");
  examples::Settings settings{.rule      = flags["rule"],
                              .batch     = flags.count("batch"),
                              .lr        = flags.real("lr"),
                              .clip      = 1.0,
                              .reduction = bt::Reduction::Sum,
                              .votes     = true};
  if (flags["rule"] == "ES_D_RTRL") settings.options.decay_or_rank = bt::TraceDecay::decay(flags.real("decay"));
  examples::Trainer trainer(model, *task, settings);
  examples::Curves  curves;
  examples::train(trainer, flags["rule"], flags.count("epochs"), 10, curves,
                  [&](const examples::Score& s) { return s.accuracy >= (flags.quick() ? 0.95 : 0.97); });
  const double accuracy = trainer.test(4).accuracy;
  return examples::finish(flags, curves, accuracy >= 0.9,
                          fmt::format("accuracy {:.3f} on unseen trials, goal 0.9", accuracy));
}

}  // namespace

int main(int argc, char** argv) {
  return examples::guarded(decide, {argc,
                                    argv,
                                    {{"synapse", "coba|cuba"},
                                     {"rule", "ES_D_RTRL|D_RTRL|BPTT"},
                                     {"A2", {"-0.02", "-0.1"}},
                                     {"decay", {"0.999", "0.99"}},
                                     {"units", {"200", "50"}},
                                     {"batch", {"128", "32"}},
                                     {"epochs", {"100", "20"}},
                                     {"lr", "0.003"}}});
}
