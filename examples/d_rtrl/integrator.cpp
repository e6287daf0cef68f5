// SPDX-License-Identifier: Apache-2.0
// Path integration: a recurrent network reads a noisy velocity and outputs its sum so far. Compares D-RTRL, which
// learns forward in time, with backpropagation through time.
//
//   --cell   vanilla: 32 tanh units;  mini_gru: 100 units, with weight decay in the loss
//   --lanes  no: one learner for the whole batch;  yes: one per sample, mapped over the batch
//
// Should reach: the loss falls below half of the first under both rules.
#include "examples/support.h"

struct Net : bt::nn::Module {
  std::shared_ptr<bt::nn::Module> rnn;
  bt::nn::Linear                  out;
  Net(std::shared_ptr<bt::nn::Module> cell, int64_t n) : rnn(std::move(cell)), out(n, 1) {
    children({{"rnn", *rnn}, {"out", out}});
  }
  bt::Tensor update(const bt::Tensor& x) override { return out((*rnn)(x)); }
};

std::shared_ptr<bt::nn::Module> cell_of(bool gru, int64_t n) {
  if (gru) return std::make_shared<bt::nn::MiniGRU>(1, n);
  return std::make_shared<bt::nn::VanillaRNNCell>(1, n, bt::nn::CellOptions{.activation = "tanh"});
}

int integrate(const examples::Flags& flags) {
  const bool       gru  = flags["cell"] == "mini_gru";
  const int64_t    n    = gru ? 100 : 32;
  const auto       task = bt::tasks::make_task(R"({"type": "integrator"})", flags.seed());
  examples::Curves curves;
  bool             reached = true;
  for (const std::string rule : {"D_RTRL", "BPTT"}) {
    bt::random::seed(flags.seed());
    Net               model(cell_of(gru, n), n);
    examples::Trainer trainer(model, *task,
                              {.rule      = rule,
                               .batch     = gru && !flags.quick() ? 512 : 64,
                               .lr        = rule == "BPTT" ? 2.5e-2 : 5e-3,
                               .eps       = 0.1,
                               .reduction = bt::Reduction::Sum,
                               .l2        = gru ? 2e-4 : 0,
                               .lanes     = flags.yes("lanes") && rule != "BPTT"});
    const auto        scores = examples::train(trainer, rule, 10, gru ? 20 : 5, curves);
    reached                  = reached && scores.back().loss < 0.5 * scores.front().loss;
  }
  return examples::finish(flags, curves, reached, "the loss falls below half of the first under both rules");
}

int main(int argc, char** argv) {
  return examples::guarded(integrate, {argc, argv, {{"cell", "vanilla|mini_gru"}, {"lanes", "no|yes"}}});
}
