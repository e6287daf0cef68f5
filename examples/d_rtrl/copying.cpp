// SPDX-License-Identifier: Apache-2.0
// Copying: a GRU reads ten symbols, waits, and repeats them when it is cued. Only the cued steps have a loss; before
// that, states and traces advance without one.
//
//   --lag     steps of waiting
//   --method  single-step: the gradient of each step from the traces alone;  multi-step: weights that act through other
//             weights (the reset gate) get their credit inside the window as well
//
// Should reach: loss below 2.085, about ln 8: one of eight symbols comes, but which; in the quick run,
// below 2.13. Under both rules, D-RTRL and BPTT.
#include <algorithm>

#include "examples/support.h"

struct Net : bt::nn::Module {
  bt::nn::GRUCell rnn;
  bt::nn::Linear  out;
  explicit Net(int64_t n) : rnn(10, n), out(n, 10) { children({{"rnn", rnn}, {"out", out}}); }
  bt::Tensor update(const bt::Tensor& x) override { return out(rnn(x)); }
};

int copy(const examples::Flags& flags) {
  const auto task =
      bt::tasks::make_task(fmt::format(R"({{"type": "copy", "lag": {}}})", flags.count("lag")), flags.seed());
  examples::Curves curves;
  const double     goal    = flags.quick() ? 2.13 : 2.085;
  bool             reached = true;
  for (const std::string rule : {"D_RTRL", "BPTT"}) {
    bt::random::seed(flags.seed());
    Net                model(flags.count("units"));
    examples::Settings settings{.rule = rule, .batch = flags.count("batch")};
    if (rule == "D_RTRL") settings.options.vjp_method = bt::vjp_method_named(flags["method"]);
    examples::Trainer trainer(model, *task, settings);
    const auto        scores =
        examples::train(trainer, rule, std::max<int64_t>(1, flags.count("iterations") / 10), 10, curves);
    reached = reached && scores.back().loss < goal;
  }
  return examples::finish(flags, curves, reached, fmt::format("loss below {} under both rules", goal));
}

int main(int argc, char** argv) {
  return examples::guarded(copy, {argc,
                                  argv,
                                  {{"lag", "10"},
                                   {"units", "64"},
                                   {"batch", "32"},
                                   {"iterations", {"150", "60"}},
                                   {"method", "single-step|multi-step"}}});
}
