// SPDX-License-Identifier: Apache-2.0
// An LSTM reads handwritten digits row by row and classifies them after the last row. Compares D-RTRL with BPTT, with
// the same initial weights.
//
//   --data  a folder with the MNIST files (train-images-idx3-ubyte, …): 28 rows of 28. Without it, the 1797 digits of
//           8 rows of 8 that come with the library.
//
// Should reach: accuracy on unseen digits above 0.8 under BPTT and above 0.6 under D-RTRL, which drops the credit that
// passes from one unit of the LSTM to another.
#include <nlohmann/json.hpp>

#include "examples/support.h"

struct Net : bt::nn::Module {
  bt::nn::LSTMCell rnn;
  bt::nn::Linear   out{64, 10};
  explicit Net(int64_t width) : rnn(width, 64) { children({{"rnn", rnn}, {"out", out}}); }
  bt::Tensor update(const bt::Tensor& x) override { return out(rnn(x)); }
};

int read_digits(const examples::Flags& flags) {
  nlohmann::json description{{"type", "sequential_digits"}};
  if (!flags["data"].empty()) description = {{"type", "mnist"}, {"folder", flags["data"]}};
  const auto                    task = bt::tasks::make_task(description, flags.seed());
  examples::Curves              curves;
  std::map<std::string, double> accuracy;
  for (const std::string rule : {"D_RTRL", "BPTT"}) {
    bt::random::seed(flags.seed());
    Net               model(task->facts().input[0]);
    examples::Trainer trainer(model, *task, {.rule = rule, .batch = 64, .lr = 5e-3});
    examples::train(trainer, rule, flags.length(20, 8), 22, curves);
    accuracy[rule] = trainer.test(5).accuracy;
    fmt::print("{}: accuracy on unseen digits {:.3f}\n", rule, accuracy[rule]);
  }
  return examples::finish(flags, curves, accuracy["D_RTRL"] > 0.6 && accuracy["BPTT"] > 0.8,
                          fmt::format("accuracy {:.3f} under D-RTRL, goal 0.6, and {:.3f} under BPTT, goal 0.8",
                                      accuracy["D_RTRL"], accuracy["BPTT"]));
}

int main(int argc, char** argv) { return examples::guarded(read_digits, {argc, argv, {{"data", ""}}}); }
