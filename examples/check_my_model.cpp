// SPDX-License-Identifier: Apache-2.0
// Is the gradient of my model right? A leaky network written by hand, checked against finite differences and exact
// RTRL.
#include <fmt/format.h>

#include "braintrace/braintrace.h"

// h′ = 0.9 h + 0.1 tanh([x, h] W + b),  y = h′ V
struct Leaky : bt::Module {
  bt::nn::Linear  in, out;
  bt::HiddenState h;
  Leaky(int64_t n_in, int64_t n) : in(n_in + n, n), out(n, 1), h(state("h", bt::nn::hidden_state({n}))) {
    children({{"in", in}, {"out", out}});
  }
  bt::Tensor update(const bt::Tensor& x) override {
    h.set(0.9 * h.value() + 0.1 * bt::tanh(in(bt::concat({x, h.value()}, 0))));
    return out(h.value());
  }
};

int main() {
  bt::random::seed(1);
  Leaky model(2, 4);
  bt::init_all_states(model);
  const bt::Tensor xs     = bt::random::randn(8, 2);
  const auto       target = [](int64_t t) { return t % 2 == 0 ? 1.0 : -1.0; };

  const auto check = bt::check_grad(
      model, [&](const bt::Tensor& y, int64_t t) { return bt::mean(bt::square(y - target(t))); }, xs);
  fmt::print("{}", check.text());
  return check.passed() ? 0 : 1;
}
