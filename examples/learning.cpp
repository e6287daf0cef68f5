// SPDX-License-Identifier: Apache-2.0
// Draws how a network learns from a stream, as one SVG picture on standard output (docs/img/learning.svg): a GRU learns
// to output the input of two steps ago. D-RTRL changes its weights after every step.
#include <cmath>

#include "braintrace/braintrace.h"
#include "braintrace/runtime/backend.h"

namespace {

constexpr int steps = 1400, shown = 40, width = 880, height = 340, margin = 24;

struct Net : bt::nn::Module {
  bt::nn::GRUCell rnn{1, 32};
  bt::nn::Linear  out{32, 1};
  Net() { children({{"rnn", rnn}, {"out", out}}); }
  bt::Tensor update(const bt::Tensor& x) override { return out(rnn(x)); }
};

struct Run {
  std::vector<double> target, output;
};

Run learned() {
  bt::random::seed(1);
  Net model;
  bt::init_all_states(model);
  bt::D_RTRL learner(model);
  learner.compile_graph(bt::zeros({1}));
  bt::optim::Adam opt(5e-3);
  opt.register_trainable_weights(model.params());
  auto    step = bt::jit([&](const bt::Tensor& x, const bt::Tensor& target) {
    auto loss = [&] {
      const bt::Tensor y = learner(x);
      return std::pair(bt::mean(bt::square(y - target)), y);
    };
    const auto [grads, y] = bt::grad(loss, model.params(), bt::has_aux)();
    opt.update(grads);
    return y;
  });
  bt::Rng rng(7);
  Run     run;
  double  last = 0, before = 0;  // the inputs of one and two steps ago
  for (int t = 0; t < steps; ++t) {
    const double x = rng.uniform() < 0.5 ? -1 : 1;
    run.target.push_back(before);
    run.output.push_back(step(bt::full({1}, x), bt::full({1}, before)).item());
    before = last;
    last   = x;
  }
  return run;
}

// Target and output of some steps.
std::string panel(const Run& run, int first, const char* title, int left) {
  const double wide = width / 2.0 - 2 * margin, middle = 92, tall = 36;
  std::string  targets, outputs;
  for (int t = 0; t < shown; ++t) {
    const double x = left + margin + wide * (t + 0.5) / shown, one = wide / shown;
    targets += fmt::format("M{:.0f} {:.0f}h{:.0f}", x - one / 2, middle - tall * run.target[first + t], one);
    outputs += fmt::format("{:.0f},{:.0f} ", x, middle - tall * run.output[first + t]);
  }
  return fmt::format(
      "<g><text class='name' x='{0}' y='24'>{1}</text><path class='axis' d='M{0} {2}h{3:.0f}'/>"
      "<path class='target' d='{4}'/><polyline class='curve' points='{5}'/></g>\n",
      left + margin, title, middle, wide, targets, outputs);
}

// The squared error of every step, as a mean over the last fifty.
std::string error_panel(const Run& run) {
  const double wide = width - 2 * margin, bottom = height - 40, tall = 110, most = 1.25;
  std::string  curve;
  double       sum   = 0;
  auto         error = [&](int t) { return std::pow(run.output[t] - run.target[t], 2); };
  for (int t = 0; t < steps; ++t) {
    sum += error(t) - (t >= 50 ? error(t - 50) : 0);
    if (t % 5 == 4)
      curve +=
          fmt::format("{:.0f},{:.0f} ", margin + wide * t / steps, bottom - tall * sum / std::min(t + 1, 50) / most);
  }
  return fmt::format(
      "<g><text class='name' x='{0}' y='{1:.0f}'>Error, mean of the last 50 steps</text>"
      "<path class='axis' d='M{0} {2:.0f}h{3:.0f}M{0} {4:.0f}h{3:.0f}'/><text class='small' x='{0}' "
      "y='{5:.0f}'>1</text>"
      "<text class='small' x='{0}' y='{6:.0f}'>step 0</text><text class='small end' x='{7:.0f}' y='{6:.0f}'>step "
      "{8}</text>"
      "<polyline class='curve' points='{9}'/></g>\n",
      margin, bottom - tall - 12, bottom, wide, bottom - tall / most, bottom - tall / most - 4, bottom + 18,
      margin + wide, steps, curve);
}

}  // namespace

int main() {
  bt::set_default_backend("reference");  // the same numbers everywhere
  const Run run = learned();
  fmt::print(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}'>\n"
      "<title>A GRU learns online, with D-RTRL, to report the input of two steps ago</title>\n"
      "<style>svg{{background:#fcfdfb;font-family:sans-serif}} .name{{font-size:14px;font-weight:600;fill:#1a1f2b}}"
      " .small{{font-size:11px;fill:#5a6478}} .end{{text-anchor:end}} .axis{{stroke:#d5dae2;fill:none}}"
      " .target{{stroke:#b45f06;stroke-width:3;fill:none}} .curve{{stroke:#0067a5;stroke-width:2;fill:none}}"
      " @media(prefers-color-scheme:dark){{svg{{background:#14171d}} .name{{fill:#e8ebf2}} .small{{fill:#9aa4b8}}"
      " .axis{{stroke:#39404d}} .target{{stroke:#f0a35e}} .curve{{stroke:#5db4f0}}}}</style>\n{2}{3}{4}"
      "<text class='small' x='{5}' y='154'>orange: target, the input of two steps ago; blue: output of the "
      "network</text>\n"
      "</svg>\n",
      width, height, panel(run, 0, "The first 40 steps", 0), panel(run, steps - shown, "The last 40 steps", width / 2),
      error_panel(run), margin);
}
