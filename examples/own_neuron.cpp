// SPDX-License-Identifier: Apache-2.0
// A neuron defined by its equations, and a layer of such neurons that learns online to fire at given rates.
//
//   dv/dt = -v³ + I  (a leak that grows with the potential),   v ← v - 1 after a spike at v = 1
#include "braintrace/braintrace.h"

struct CubicIF : bt::nn::Neuron {
  bt::HiddenState V;
  explicit CubicIF(int64_t n) : V(state("V", bt::nn::hidden_state({n}))) {}

  bt::Tensor spikes() const override { return bt::spike(V.value() - 1); }
  void       reset() override { V.set(V.value() - spikes()); }
  void       integrate() override {
    V.set(with_delta(bt::nn::exp_euler([&](const bt::Tensor& v) { return current(v) - v * v * v; }, V.value(), 1.0)));
  }
};

struct Net : bt::nn::Module {
  bt::nn::Linear in{4, 3, {.w_init = bt::nn::init::uniform(0.1, 0.4)}};  // a silent neuron would not learn
  CubicIF        neurons{3};
  bt::nn::Expon  rate{3, 50.0, 1.0};  // spikes of the last 50 ms
  Net() { children({{"in", in}, {"neurons", neurons}, {"rate", rate}}); }
  bt::Tensor update(const bt::Tensor& x) override { return rate(neurons(in(x))); }
};

int main() {
  bt::random::seed(3);
  Net model;
  bt::init_all_states(model);
  bt::D_RTRL learner(model);
  learner.compile_graph(bt::zeros({4}));
  fmt::print("{}", learner.show_graph());

  bt::optim::Adam opt(1e-3);
  opt.register_trainable_weights(model.params());
  const bt::Tensor wanted = bt::Array::of<float>({3, 10, 20}, {3});
  auto             step   = bt::jit([&](bt::Tensor x) {
    auto loss       = [&](const bt::Tensor& u) { return bt::mean(bt::square(learner(u) - wanted)); };
    auto [l, grads] = bt::value_and_grad(loss, model.params())(x);
    opt.update(grads);
    return l;
  });

  double first = 0, last = 0;
  for (int block = 0; block < 6; ++block) {
    last = 0;
    for (int t = 0; t < 200; ++t) last += step(bt::abs(bt::random::normal(bt::random::next(), {4}))).item() / 200;
    if (block == 0) first = last;
    fmt::print("steps {:4} to {:4}   mean loss {:.3f}\n", 200 * block + 1, 200 * block + 200, last);
  }
  return last < 0.5 * first ? 0 : 1;
}
