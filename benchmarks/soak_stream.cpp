// SPDX-License-Identifier: Apache-2.0
// A long stream: single steps with a weight update after each. Memory must stay flat, traces finite.
//
//   soak_stream [STEPS]       100,000 unless given; exit status 1 when memory grew or a trace is not finite
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "braintrace/braintrace.h"

struct Net : bt::nn::Module {
  bt::nn::GRUCell rnn{3, 8};
  bt::nn::Linear  out{8, 1};
  Net() { children({{"rnn", rnn}, {"out", out}}); }
  bt::Tensor update(const bt::Tensor& x) override { return out(rnn(x)); }
};

int64_t resident_kilobytes() {
  std::ifstream file("/proc/self/statm");
  int64_t       total = 0, resident = 0;
  file >> total >> resident;
  return resident * 4;
}

int main(int argc, char** argv) {
  const int64_t steps = argc > 1 ? std::atoll(argv[1]) : 100000;
  bt::random::seed(1);
  Net        model;
  const auto learner = bt::compile(model, "d_rtrl", bt::zeros({3}));
  const auto step    = bt::jit(bt::value_and_grad(
      [&](bt::Tensor x, bt::Tensor y) { return bt::mean(bt::square((*learner)(x)-y)); }, model.params()));
  bt::Rng    rng(7);
  int64_t    early   = 0;
  double     largest = 0, loss = 0;
  for (int64_t t = 0; t < steps; ++t) {
    const std::vector<float> x = {static_cast<float>(rng.normal()), static_cast<float>(rng.normal()), 1};
    const auto [value, grads]  = step(bt::Tensor(bt::Array::of<float>(x, {3})), bt::Tensor(0.5 * x[0]));
    for (const auto& [path, state] : model.params())
      for (const auto& [leaf, g] : grads.at(path)) state.set_leaf(leaf, state.leaf(leaf) - 0.01 * g);
    loss = 0.999 * loss + 0.001 * value.item();
    if (t == steps / 10) early = resident_kilobytes();
    if ((t + 1) % (steps / 10) == 0) {
      for (const bt::Tensor& m : learner->memory()) largest = std::max(largest, bt::max(bt::abs(m)).item());
      fmt::print("{:>8} steps  loss {:.4f}  largest trace {:.3f}  resident {} kB\n", t + 1, loss, largest,
                 resident_kilobytes());
    }
  }
  const bool flat = resident_kilobytes() - early < 1024;
  return flat && std::isfinite(largest) && std::isfinite(loss) ? 0 : 1;
}
