// SPDX-License-Identifier: Apache-2.0
// Coincidence detection: four neurons fire once each, in the right order or in another one. Rates carry no information;
// a sum crosses its threshold only if delays align the four spikes of the right order. The delays learn online.
//
//   g_i: a smooth trace of the spikes of neuron i,   y_t = Σ_i g_i(t - d_i)
//
// The target is the sum of four spikes that coincide 10 ms after the first one.
#include <algorithm>
#include <array>

#include "braintrace/braintrace.h"

struct Detector : bt::nn::Module {
  bt::nn::Alpha          smooth{4, 2.0, 1.0};
  bt::nn::LearnableDelay delay{4, bt::units::Time(14), {.delay = bt::nn::Initializer(5.0), .dt = 1.0}};
  Detector() { children({{"smooth", smooth}, {"delay", delay}}); }
  bt::Tensor update(const bt::Tensor& x) override { return bt::sum(delay(smooth(x)), {-1}); }
};

constexpr int                steps = 40, together = 10;
constexpr std::array<int, 4> rhythm = {0, 3, 5, 8};

// Spikes of a trial [steps, 4], and the time of the first one.
struct Trial {
  bt::Tensor spikes, wanted;
};
Trial trial(std::array<int, 4> order, int first) {
  bt::nn::Alpha one(1, 2.0, 1.0);
  bt::init_all_states(one);
  std::vector<float> x(4 * steps), y(steps);
  for (size_t i = 0; i < 4; ++i) x[4 * static_cast<size_t>(first + rhythm[i]) + static_cast<size_t>(order[i])] = 1;
  for (int t = 0; t < steps; ++t)
    y[static_cast<size_t>(t)] =
        4 * static_cast<float>(bt::sum(one(bt::full({1}, t == first + together ? 1 : 0))).item());
  return {bt::Array::of<float>(x, {steps, 4}), bt::Array::of<float>(y, {steps})};
}

int main() {
  bt::random::seed(1);
  Detector model;
  bt::init_all_states(model);
  bt::D_RTRL learner(model);
  learner.compile_graph(bt::zeros({4}));
  bt::optim::Adam opt(0.05);
  opt.register_trainable_weights(model.params());
  auto learn = bt::jit([&](bt::Tensor x, bt::Tensor y) {
    auto loss       = [&](const bt::Tensor& u) { return bt::square(learner(u) - y); };
    auto [l, grads] = bt::value_and_grad(loss, model.params())(x);
    opt.update(grads);
    return l;
  });
  auto show  = bt::jit([&](bt::Tensor x) { return model(x); });

  const auto row = [](const bt::Tensor& all, int64_t t) { return bt::squeeze(bt::slice_axis(all, 0, t, t + 1), {0}); };
  // The largest sum of the right order, and of the 23 others: a threshold between them separates the two.
  const auto peaks = [&] {
    std::array<int, 4>  order = {0, 1, 2, 3};
    std::vector<double> largest;
    do {
      const Trial t = trial(order, 4);
      bt::reset_all_states(model);
      double peak = 0;
      for (int64_t s = 0; s < steps; ++s) peak = std::max(peak, show(row(t.spikes, s)).item());
      largest.push_back(peak);
    } while (std::next_permutation(order.begin(), order.end()));
    return std::pair(largest[0], *std::max_element(largest.begin() + 1, largest.end()));
  };
  const auto told = [&](const char* when) {
    const auto [right, others] = peaks();
    const bt::Array d          = model.delay.delay.value().array();
    fmt::print(
        "{:8} delays {:5.2f} {:5.2f} {:5.2f} {:5.2f} ms   peak of the right order {:.2f}, of the others {:.2f}\n", when,
        bt::at(d, 0), bt::at(d, 1), bt::at(d, 2), bt::at(d, 3), right, others);
    return right > others;
  };

  const bool before = told("before");
  for (int n = 0; n < 120; ++n) {
    const Trial t = trial({0, 1, 2, 3}, 2 + n % 5);
    bt::reset_all_states(model);
    learner.reset_state();
    for (int64_t s = 0; s < steps; ++s) learn(row(t.spikes, s), row(t.wanted, s));
  }
  const bool after = told("learned");
  return !before && after ? 0 : 1;
}
