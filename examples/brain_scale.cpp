// SPDX-License-Identifier: Apache-2.0
// A sparse spiking network learns from a stream, one step at a time: a stimulus for 10 steps, silence for 5, and a
// target for 5 steps: which of eight stimuli it was. Every synapse learns, with ES-D-RTRL and gradient descent; a step
// without a target has no learning signal and changes no weights. A JSON description defines the connections.
//
//   brain_scale [neurons=400] [synapses per neuron=40] [trials=240]
//
// Prints the accuracy during learning, and the cost of a step. Should reach: 0.8 in the last tenth of the trials;
// chance is 0.125.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "braintrace/braintrace.h"
#include "braintrace/zoo/model.h"

namespace {

constexpr int64_t channels = 200, stimuli = 8, shown = 10, silent = 5, asked = 5;

std::shared_ptr<bt::Module> network(int64_t neurons, int64_t synapses) {
  return bt::zoo::build_model(fmt::format(
      R"({{"type": "chain", "layers": [
            {{"name": "net", "type": "sparse_snn", "n_in": {0}, "n_rec": {1}, "tau_ms": 20.0, "spk_reset": "hard",
              "surrogate": {{"type": "relu_grad", "alpha": 0.3, "width": 0.5}},
              "input": {{"type": "fixed_in_degree", "degree": 10}}, "ff_scale": 8.0,
              "pattern": {{"type": "distance", "degree": {2}, "sigma": {3}}}, "rec_scale": 2.0}},
            {{"name": "out", "type": "leaky_rate_readout", "n_in": {1}, "n_out": {4}, "tau_ms": 10.0}}]}})",
      channels, neurons, synapses, std::sqrt(static_cast<double>(neurons)) / 4, stimuli));
}

// Which channels fire at this step, and the target.
class Stream {
 public:
  explicit Stream(uint64_t seed) : rng_(seed) {
    for (std::vector<bool>& s : member_) {
      s.resize(channels);
      for (int64_t c = 0; c < channels; ++c) s[static_cast<size_t>(c)] = rng_.uniform() < 0.1;
    }
  }
  int64_t    begin_trial() { return stimulus_ = rng_.integer(stimuli); }
  bt::Tensor step(bool on) {
    std::vector<float> x(channels);
    for (int64_t c = 0; c < channels; ++c) {
      const bool driven         = on && member_[static_cast<size_t>(stimulus_)][static_cast<size_t>(c)];
      x[static_cast<size_t>(c)] = rng_.uniform() < (driven ? 0.5 : 0.01) ? 1.0F : 0.0F;
    }
    return bt::Array::of<float>(x, {channels});
  }

 private:
  bt::Rng           rng_;
  std::vector<bool> member_[stimuli];
  int64_t           stimulus_ = 0;
};

int64_t positive(const std::string& text) {
  int64_t    n         = 0;
  const auto end       = text.data() + text.size();
  const auto [at, bad] = std::from_chars(text.data(), end, n);
  bt::require(bad == std::errc() && at == end && n > 0,
              "'{}': expected a positive whole number.\n"
              "  brain_scale [neurons=400] [synapses per neuron=40] [trials=240]",
              text);
  return n;
}

int learn(int64_t neurons, int64_t synapses, int64_t trials) {
  bt::random::seed(1);
  const bt::Environment::Scope ms{{.dt = 1.0}};
  const auto                   model = network(neurons, synapses);
  bt::init_all_states(*model);
  bt::ES_D_RTRL learner(*model, 0.95);
  learner.compile_graph(bt::Types{{bt::DType::F32, {channels}}});
  bt::optim::SGD optimizer(10.0 / static_cast<double>(neurons));
  optimizer.register_trainable_weights(model->params());

  const auto loss = [&](bt::Tensor x, bt::Tensor y, bt::Tensor counts) {
    const bt::Tensor z = learner(x);
    return std::pair(counts * bt::losses::softmax_cross_entropy_with_integer_labels(z, y), z);
  };
  auto step = bt::jit([&](bt::Tensor x, bt::Tensor y, bt::Tensor counts) {
    auto [gradients, z] = bt::grad(loss, model->params(), bt::has_aux)(x, y, counts);
    optimizer.update(gradients);
    return z;
  });

  Stream        stream(2);
  const int64_t part  = std::max<int64_t>(trials / 10, 1);
  double        right = 0, seconds = 0, last = 0;
  fmt::print("{} neurons, {} synapses\n trials   right   ms per step\n", neurons, neurons * synapses);
  for (int64_t k = 1; k <= trials; ++k) {
    const int64_t    stimulus = stream.begin_trial();
    const bt::Tensor y        = bt::full({}, static_cast<double>(stimulus), bt::DType::I32);
    const auto       begin    = std::chrono::steady_clock::now();
    bt::Tensor       said     = bt::zeros({stimuli});
    for (int64_t t = 0; t < shown + silent + asked; ++t) {
      const bool       is_asked = t >= shown + silent;
      const bt::Tensor z        = step(stream.step(t < shown), y, bt::full({}, is_asked ? 1.0 : 0.0));
      if (is_asked) said = said + z;
    }
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (k > 1) seconds += took;  // the first one compiles
    right += bt::argmax(said, 0).item() == static_cast<double>(stimulus) ? 1 : 0;
    if (k % part == 0) {
      last                = right / static_cast<double>(part);
      const int64_t steps = (part - (k == part ? 1 : 0)) * (shown + silent + asked);
      fmt::print("{:>7} {:>7.2f} {:>13}\n", k, last,
                 steps ? fmt::format("{:.3f}", 1e3 * seconds / static_cast<double>(steps)) : "compiles");
      std::fflush(stdout);
      right = seconds = 0;
    }
  }
  return last >= 0.8 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  const auto number = [&](int i, int64_t otherwise) { return argc > i ? positive(argv[i]) : otherwise; };
  bt::require(argc <= 4, "'{}': expected at most three numbers.", argc > 4 ? argv[4] : "");
  return learn(number(1, 400), number(2, 40), number(3, 240));
} catch (const bt::UserError& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 2;
}
