// SPDX-License-Identifier: Apache-2.0
// One gradient, four ways: step by step with the traces in memory, or as one window without traces; with the reference
// interpreter, or as machine code. Prints their differences and times.
//
// Should reach: no two gradients differ by more than 1e-5, relative to the largest element.
#include <algorithm>
#include <chrono>

#include "braintrace/runtime/backend.h"
#include "examples/support.h"

namespace {

constexpr int64_t T = 20, batch = 16, n_in = 8;

struct Net : bt::nn::Module {
  bt::nn::MiniLSTM rnn{n_in, 32};
  bt::nn::Linear   out{32, 1};
  Net() { children({{"rnn", rnn}, {"out", out}}); }
  bt::Tensor update(const bt::Tensor& x) override { return out(rnn(x)); }
};

struct Run {
  bt::Gradients gradient;
  double        milliseconds = 0;
};

Run run(const std::string& backend, bool window) {
  bt::set_default_backend(backend);
  bt::random::seed(42);
  Net        model;
  const auto learner = bt::compile(model, "D_RTRL", bt::zeros({batch, n_in}), {}, {.batch_size = batch});
  const auto loss    = [&](bt::Tensor x) { return bt::mean(bt::square((*learner)(x)-1)); };
  const auto xs      = bt::nn::init::normal()({T, batch, n_in});

  const auto as_window = bt::jit([&](bt::Tensor seq) {
    return bt::etrace_grad(loss, *learner, {.reduction = bt::Reduction::Sum, .drop_traces = true})(seq).grads;
  });
  const auto one_step  = bt::jit(bt::grad(loss, model.params()));
  const auto gradient  = [&] {
    bt::reset_all_states(model);
    learner->reset_state();
    if (window) return as_window(xs);
    bt::Gradients sum;
    for (int64_t t = 0; t < T; ++t) {
      const bt::Gradients g = one_step(bt::squeeze(bt::slice_axis(xs, 0, t, t + 1), {0}));
      sum                   = t == 0 ? g : sum + g;
    }
    return sum;
  };
  Run        result{gradient()};
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i) gradient();
  result.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count() / 5;
  return result;
}

double distance(const bt::Gradients& a, const bt::Gradients& b) {
  double worst = 0, largest = 0;
  for (const auto& [path, leaves] : a)
    for (const auto& [leaf, g] : leaves) {
      worst   = std::max(worst, bt::max(bt::abs(g - b.at(path, leaf))).item());
      largest = std::max(largest, bt::max(bt::abs(g)).item());
    }
  return worst / largest;
}

int compare(const examples::Flags& flags) {
  const Run judge = run("reference", false);
  double    worst = 0;
  fmt::print("{:<12} {:<14} {:>10} {:>14}\n", "backend", "form", "ms", "difference");
  for (const char* backend : {"reference", "cpu"})
    for (bool window : {false, true}) {
      const Run    r = run(backend, window);
      const double d = distance(r.gradient, judge.gradient);
      worst          = std::max(worst, d);
      fmt::print("{:<12} {:<14} {:>10.2f} {:>14.1e}\n", backend, window ? "window" : "step by step", r.milliseconds, d);
    }
  return examples::finish(flags, {}, worst < 1e-5, fmt::format("gradients differ by {:.1e}, goal 1e-5", worst));
}

}  // namespace

int main(int argc, char** argv) { return examples::guarded(compare, {argc, argv}); }
