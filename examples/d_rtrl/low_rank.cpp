// SPDX-License-Identifier: Apache-2.0
// Adapts a network with frozen weights: a trainable product of rank 4, initially zero, is added to the frozen product
// (LoRA, Hu et al. 2021). The task is to predict the next sample of a sine.
//
// Should reach: the loss falls below 0.8 of the first, and the frozen weights do not change.
#include "examples/support.h"

constexpr int64_t units = 32;

struct Net : bt::nn::Module {
  bt::LongTermState frozen;  // no parameter: nothing trains it
  bt::nn::LoRA      adapter{1 + units, 4, units};
  bt::HiddenState   h;
  bt::nn::Linear    out{units, 1};

  Net()
      : frozen(state("frozen", bt::LongTermState(bt::nn::init::plain::xavier_normal()({1 + units, units})))),
        h(state("h", bt::nn::hidden_state({units}))) {
    children({{"adapter", adapter}, {"out", out}});
  }
  bt::Tensor update(const bt::Tensor& x) override {
    const bt::Tensor xh = bt::nn::joined(x, h.value());
    h.set(bt::tanh(bt::dot(xh, frozen.value()) + adapter(xh)));
    return out(h.value());
  }
};

int adapt(const examples::Flags& flags) {
  bt::random::seed(flags.seed());
  const auto        task = bt::tasks::make_task(R"({"type": "sine"})", flags.seed());
  Net               model;
  const bt::Tensor  before = model.frozen.value();
  examples::Trainer trainer(model, *task, {.batch = 16, .lr = 5e-3});
  fmt::print("{}", trainer.learner().show_graph());
  examples::Curves curves;
  const auto       scores = examples::train(trainer, "D_RTRL", flags.length(10, 6), 5, curves);
  const bool       still  = bt::max(bt::abs(model.frozen.value() - before)).item() == 0;
  return examples::finish(flags, curves, scores.back().loss < 0.8 * scores.front().loss && still,
                          "the loss falls below 0.8 of the first with the base frozen");
}

int main(int argc, char** argv) { return examples::guarded(adapt, {argc, argv}); }
