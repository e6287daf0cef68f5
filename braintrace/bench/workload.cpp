// SPDX-License-Identifier: Apache-2.0
#include "braintrace/bench/workload.h"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "braintrace/algorithms/registry.h"
#include "braintrace/base/lists.h"
#include "braintrace/base/nearest.h"
#include "braintrace/nn/conv.h"
#include "braintrace/nn/linear.h"
#include "braintrace/nn/neuron.h"
#include "braintrace/nn/rnn.h"
#include "braintrace/ops/move.h"

namespace braintrace::bench {

namespace {

const std::vector<std::string> usual_models = {"rnn", "gru", "lif"}, models = joined(usual_models, {"conv"});
const std::vector<Size>        sequence_sizes{{64, 64, 128}, {64, 128, 256}, {64, 128, 512}};
const std::vector<Size>        stream_sizes{{1, 32, 32}, {1, 64, 128}, {1, 128, 512}};
const std::vector<Size>        conv_sizes{{16, 784, 16}};

class LifLayer : public nn::Module {
 public:
  LifLayer(int64_t n_in, int64_t n) : w(n_in + n, n), neuron(n) { children({{"w", w}, {"neuron", neuron}}); }
  Tensor update(const Tensor& x) override { return neuron(w(concat({x, neuron.spikes()}, -1))); }

  nn::Linear w;
  nn::LIF    neuron;
};

// Spikes of three convolutions of 3 x 3 pixels on an image, the second and third with a stride of two and twice the
// channels of the one before.
class ConvLayers : public nn::Module {
 public:
  ConvLayers(int64_t pixels, int64_t channels) : side_(std::lround(std::sqrt(pixels))) {
    require(side_ * side_ == pixels, "bench: conv reads square images; {} pixels are not a square. Try 784.", pixels);
    Shape size = {side_, side_, 1};
    for (const int64_t stride : {1, 2, 2}) {
      convs_.push_back(std::make_shared<nn::Conv2d>(size, channels, 3, nn::ConvLayerOptions{.stride = {stride}}));
      size = *convs_.back()->out_size();
      neurons_.push_back(std::make_shared<nn::LIF>(size, nn::LIFOptions{.R = 12.0}));  // so that all layers fire
      channels *= 2;
    }
    for (size_t i = 0; i < convs_.size(); ++i)
      children({{fmt::format("conv{}", i), *convs_[i]}, {fmt::format("neuron{}", i), *neurons_[i]}});
    outputs = size_of(size);
  }
  Tensor update(const Tensor& x) override {
    const int64_t batch = x.shape()[0];
    Tensor        z     = reshape(x, {batch, side_, side_, 1});
    for (size_t i = 0; i < convs_.size(); ++i) z = (*neurons_[i])((*convs_[i])(z));
    return reshape(z, {batch, outputs});
  }

  int64_t outputs;

 private:
  int64_t                                  side_;
  std::vector<std::shared_ptr<nn::Conv2d>> convs_;
  std::vector<std::shared_ptr<nn::LIF>>    neurons_;
};

std::shared_ptr<nn::Module> cell_of(const Workload& w) {
  const auto [batch, n_in, n] = w.size;
  if (w.model == "rnn") return std::make_shared<nn::ValinaRNNCell>(n_in, n, nn::CellOptions{.activation = "tanh"});
  if (w.model == "gru") return std::make_shared<nn::GRUCell>(n_in, n);
  if (w.model == "conv") return std::make_shared<ConvLayers>(n_in, n);
  return std::make_shared<LifLayer>(n_in, n);
}

class Network : public nn::Module {
 public:
  explicit Network(const Workload& w) : cell(cell_of(w)), out(features(*cell, w), network_outputs) {
    children({{"cell", *cell}, {"out", out}});
  }
  Tensor update(const Tensor& x) override { return out(cell->update(x)); }

  std::shared_ptr<nn::Module> cell;
  nn::Linear                  out;

 private:
  static int64_t features(const nn::Module& cell, const Workload& w) {
    const auto* layers = dynamic_cast<const ConvLayers*>(&cell);
    return layers ? layers->outputs : w.size.n;
  }
};

}  // namespace

std::shared_ptr<Module> network(const Workload& workload) { return std::make_shared<Network>(workload); }

std::vector<Workload> workloads(const Choice& c) {
  for (const std::string& m : c.models) known_index(m, models, "bench: there is no model");
  for (const Size& s : c.sizes)
    require(s.batch > 0 && s.n_in > 0 && s.n > 0, "bench: sizes are positive, got {},{},{}.", s.batch, s.n_in, s.n);
  require(c.steps.value_or(1) > 0, "bench: a sequence has at least one step, got {}.", c.steps.value_or(1));
  require(!c.spikes || (*c.spikes >= 0 && *c.spikes <= 1), "bench: the part of inputs that spike is within 0 … 1.");
  std::vector<Workload> out;
  for (const Mode mode : c.modes.empty() ? std::vector{Mode::Sequence, Mode::Stream} : c.modes)
    for (const std::string& name : c.rules.empty() ? representative_algorithms() : c.rules) {
      const Algorithm& rule = algorithm_named(name);
      if (!is_measurable(name, mode)) continue;
      for (const std::string& model : c.models.empty() ? usual_models : c.models) {
        const bool is_conv = model == "conv";
        if (mode == Mode::Stream && (is_conv || (c.quick && model == "lif"))) continue;
        std::vector<Size> sizes = is_conv ? conv_sizes : mode == Mode::Sequence ? sequence_sizes : stream_sizes;
        if (c.quick && mode == Mode::Sequence && !is_conv) sizes.resize(rule.has_trace_per_weight() ? 1 : 2);
        for (const Size& s : c.sizes.empty() ? sizes : c.sizes)
          out.push_back({model, rule.name, mode, s, mode == Mode::Sequence ? c.steps.value_or(is_conv ? 20 : 100) : 1,
                         c.spikes.value_or(is_conv          ? 0.2
                                           : model == "lif" ? 0.05
                                                            : 0)});
      }
    }
  require(
      !out.empty(),
      "bench: nothing is left to measure; a rule without a step form (BPTT) or with a synthesizer (DNI) has no stream, "
      "nor has conv, and --quick leaves lif out of streams.");
  return out;
}

}  // namespace braintrace::bench
