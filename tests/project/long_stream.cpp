// SPDX-License-Identifier: Apache-2.0
// A long stream: single steps with a weight update after each, as machine code. Memory must stay flat, traces finite.
//
//   long_stream [STEPS]       default 100,000; exit status 1 when memory grew or a value is not finite
#include <algorithm>
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
  Net            model;
  const auto     learner = bt::compile(model, "d_rtrl", bt::zeros({3}));
  bt::optim::SGD opt(0.01);
  opt.register_trainable_weights(model.params());
  auto loss = [&](bt::Tensor x, bt::Tensor y) { return bt::mean(bt::square((*learner)(x)-y)); };
  auto step = bt::jit([&](bt::Tensor x, bt::Tensor y) {
    auto [l, grads] = bt::value_and_grad(loss, model.params())(x, y);
    opt.update(grads);
    return l;
  });

  bt::Rng rng(7);
  int64_t early = 0;
  double  mean = 0, largest = 0, first = 0;
  for (int64_t t = 0; t < steps; ++t) {
    const std::vector<float> x = {static_cast<float>(rng.normal()), static_cast<float>(rng.normal()), 1};
    mean = 0.999 * mean + 0.001 * step(bt::Tensor(bt::Array::of<float>(x, {3})), bt::full({1}, 0.5 * x[0])).item();
    if ((t + 1) % (steps / 10) != 0) continue;
    for (const bt::Tensor& m : learner->memory()) largest = std::max(largest, bt::max(bt::abs(m)).item());
    fmt::print("{:>8} steps  loss {:.5f}  largest trace {:.3f}  resident {} kB\n", t + 1, mean, largest,
               resident_kilobytes());
    if (early == 0) early = resident_kilobytes(), first = mean;
  }
  const bool flat = resident_kilobytes() - early < 1024, learns = mean < first;
  return flat && learns && largest > 0 && std::isfinite(largest) ? 0 : 1;
}
