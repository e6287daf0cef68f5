// SPDX-License-Identifier: Apache-2.0
// A GRU learns from a stream, one step at a time, to output the input of two steps ago. Weights change at every step;
// eligibility traces carry the contribution of the past to the gradient, so no past inputs are stored.
#include "braintrace/braintrace.h"

struct Net : bt::nn::Module {
  bt::nn::GRUCell rnn{1, 24};
  bt::nn::Linear  out{24, 1};
  Net() { children({{"rnn", rnn}, {"out", out}}); }
  bt::Tensor update(const bt::Tensor& x) override { return out(rnn(x)); }
};

int main() {
  bt::random::seed(1);
  Net model;
  bt::init_all_states(model);

  bt::D_RTRL learner(model);
  learner.compile_graph(bt::zeros({1}));
  fmt::print("{}", learner.show_graph());

  bt::optim::Adam opt(3e-3);
  opt.register_trainable_weights(model.params());
  auto loss = [&](bt::Tensor x, bt::Tensor y) { return bt::mean(bt::square(learner(x) - y)); };
  auto step = bt::jit([&](bt::Tensor x, bt::Tensor y) {  // model, traces, gradient and update: one program
    auto [l, grads] = bt::value_and_grad(loss, model.params())(x, y);
    opt.update(grads);
    return l;
  });

  bt::Rng             rng(7);
  std::vector<double> past{0, 0};
  double              sum = 0, first = 0, last = 0;
  constexpr int       block = 500, blocks = 8;
  for (int t = 0; t < block * blocks; ++t) {
    past.push_back(rng.uniform() < 0.5 ? -1 : 1);
    sum += step(bt::full({1}, past[t + 2]), bt::full({1}, past[t])).item();
    if ((t + 1) % block) continue;
    last = sum / block;
    if (t + 1 == block) first = last;
    fmt::print("steps {:5} to {:5}   mean loss {:.4f}\n", t + 2 - block, t + 1, last);
    sum = 0;
  }
  return last < 0.2 * first ? 0 : 1;
}
