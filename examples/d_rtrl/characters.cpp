// SPDX-License-Identifier: Apache-2.0
// A character language model: predict the next character. Compares D-RTRL with BPTT; then each network generates 100
// characters, always the most likely one.
//
// Should reach: loss below 3.0 under both rules (27 or so characters with equal chance: 3.4).
#include "examples/support.h"

struct Net : bt::nn::Module {
  bt::nn::MiniGRU rnn;
  bt::nn::Linear  out;
  explicit Net(int64_t vocabulary) : rnn(vocabulary, 64), out(64, vocabulary) {
    children({{"rnn", rnn}, {"out", out}});
  }
  bt::Tensor update(const bt::Tensor& x) override { return out(rnn(x)); }
};

std::string sample(Net& model, const std::vector<std::string>& characters, int length) {
  const auto next = bt::jit(
      [&](bt::Tensor id) { return bt::argmax(model(bt::one_hot(id, static_cast<int64_t>(characters.size()))), -1); });
  bt::init_all_states(model);
  std::string text;
  bt::Tensor  id = bt::zeros({}, bt::DType::I32);
  for (int i = 0; i < length; ++i) {
    id                   = next(id);
    const std::string& c = characters[static_cast<size_t>(id.item())];
    text += c == "space" ? " " : c;
  }
  return text;
}

int speak(const examples::Flags& flags) {
  const auto       task = bt::tasks::make_task(R"({"type": "char_lm"})", flags.seed());
  examples::Curves curves;
  bool             reached = true;
  for (const std::string rule : {"D_RTRL", "BPTT"}) {
    bt::random::seed(flags.seed());
    Net               model(task->facts().outputs);
    examples::Trainer trainer(model, *task, {.rule = rule, .batch = 16, .lr = 3e-3});
    const auto        scores = examples::train(trainer, rule, flags.length(30, 4), 10, curves);
    fmt::print("{} writes: {}\n", rule, sample(model, task->facts().class_names, 100));
    reached = reached && scores.back().loss < 3.0;
  }
  return examples::finish(flags, curves, reached, "loss below 3.0 under both rules");
}

int main(int argc, char** argv) { return examples::guarded(speak, {argc, argv}); }
