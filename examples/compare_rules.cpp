// SPDX-License-Identifier: Apache-2.0
// Compares all rules that need only a loss on one model: their memory, and how far their gradient over a sequence,
// computed step by step, is from the exact one.
#include <cmath>

#include "braintrace/braintrace.h"

struct Net : bt::nn::Module {
  bt::nn::GRUCell rnn{3, 16};
  bt::nn::Linear  out{16, 1};
  Net() { children({{"rnn", rnn}, {"out", out}}); }
  bt::Tensor update(const bt::Tensor& x) override { return out(rnn(x)); }
};

struct Result {
  bt::Gradients gradient;  // Σ_t ∇_t
  int64_t       bytes = 0;
};

Result learn(const std::string& algorithm) {
  bt::random::seed(1);
  Net             model;
  bt::RuleOptions options;
  if (algorithm == "ES_D_RTRL") options.decay_or_rank = bt::TraceDecay::decay(0.9);
  if (algorithm == "EProp") options.kappa_filter_decay = 0.5;
  const auto learner = bt::compile(model, algorithm, bt::zeros({3}), options);

  auto    step = bt::jit(bt::grad([&](bt::Tensor x) { return bt::mean(bt::square((*learner)(x)-1)); }, model.params()));
  Result  result;
  bt::Rng rng(7);
  for (int t = 0; t < 20; ++t) {
    std::vector<float> x(3);
    for (float& v : x) v = static_cast<float>(rng.normal());
    const bt::Gradients g = step(bt::Tensor(bt::Array::of<float>(x, {3})));
    result.gradient       = t == 0 ? g : result.gradient + g;
  }
  for (const bt::MemorySlot& slot : learner->memory_slots())
    result.bytes += slot.type.size() * static_cast<int64_t>(bt::size_of(slot.type.dtype));
  return result;
}

double norm(const bt::Gradients& g) { return std::sqrt(g.squared_norm().item()); }

int main() {
  const bt::Gradients           exact = learn("RTRL").gradient;
  std::map<std::string, double> error;
  fmt::print("{:<16} {:>12} {:>16}\n", "rule", "memory, B", "relative error");
  for (const bt::Algorithm& a : bt::algorithms()) {
    if (a.needs() != bt::Need::Nothing) continue;  // a modulator, a synthesizer
    const Result r = learn(a.name);
    error[a.name]  = norm(r.gradient - exact) / norm(exact);
    fmt::print("{:<16} {:>12} {:>16.2f}\n", a.name, r.bytes, error[a.name]);
  }
  // A trace is better than none, a wide one better than a narrow one.
  return error["SnAp"] < error["D_RTRL"] && error["D_RTRL"] < error["BPTT"] ? 0 : 1;
}
