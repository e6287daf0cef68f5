// SPDX-License-Identifier: Apache-2.0
// A convolution over each row of counts drives a leaky state, which a recurrent cell reads; only the last step has a
// target, the class. The kernel has a trace, so it learns from early rows.
//
// A kernel directly before the weights of the cell would reach the state only through another product, and get only the
// gradient of the last step; the leaky state with the shape of the convolution gives it a memory.
//
// Should reach: loss below 1.2 (four classes with equal chance: 1.386), and the kernel among the traced weights.
#include "examples/support.h"

struct Net : bt::nn::Module {
  bt::nn::Conv1d  conv{{28, 1}, 8, 3};
  bt::HiddenState seen;  // [28, 8]
  bt::nn::MiniGRU rnn{28 * 8, 32};
  bt::nn::Linear  out{32, 4};

  Net() : seen(state("seen", bt::nn::hidden_state({28, 8}))) { children({{"conv", conv}, {"rnn", rnn}, {"out", out}}); }
  bt::Tensor update(const bt::Tensor& x) override {
    seen.set(0.9 * seen.value() + 0.1 * conv(bt::expand_dims(x, -1)));
    return out(rnn(bt::nn::Flatten({28, 8})(bt::relu(seen.value()))));
  }
};

int classify(const examples::Flags& flags) {
  bt::random::seed(flags.seed());
  const auto        task = bt::tasks::make_task(R"({"type": "poisson_rows"})", flags.seed());
  Net               model;
  examples::Trainer trainer(model, *task, {.batch = 16, .lr = 3e-3});
  fmt::print("{}", trainer.learner().show_graph());
  const bool       traced = !trainer.learner().get_etrace_of(bt::Path::dotted("conv.weight")).empty();
  examples::Curves curves;
  const auto       scores = examples::train(trainer, "D_RTRL", flags.length(10, 6), 10, curves);
  return examples::finish(flags, curves, traced && scores.back().loss < 1.2, "loss below 1.2, the kernel has a trace");
}

int main(int argc, char** argv) { return examples::guarded(classify, {argc, argv}); }
