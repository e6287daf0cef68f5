// SPDX-License-Identifier: Apache-2.0
// Handwritten digits as spikes: one input neuron per pixel, which fires more often if the pixel is brighter; at every
// step, the network predicts the digit. One task, six ways to connect the network.
//
//   --wiring  dense   128 neurons, all weights, ten digits; --rule BPTT for comparison
//             signs   64 neurons; recurrent weights start positive for 48 of them and negative for 16
//             mask    96 neurons; a tenth of the recurrent weights exists, the others are masked
//             sparse  96 neurons; a tenth of the recurrent weights exists, and only those are stored
//             lora    96 neurons; the recurrent weights are a product of rank 8
//             conv    a kernel over the image, one neuron per pixel and channel; the state keeps the image's shape, so
//                     that the kernel has a trace
//
// Should reach: accuracy on unseen digits of 0.8 for the digits 0 to 3, of 0.6 for all ten.
#include <cmath>

#include "examples/pp_prop/network.h"

namespace {

constexpr int64_t pixels = 64;

using Part = std::shared_ptr<bt::nn::Module>;

// ff(x) + rec(z) for [x; z]
struct TwoPaths : bt::nn::Module {
  Part ff, rec;
  TwoPaths(Part inputs, Part recurrent) : ff(std::move(inputs)), rec(std::move(recurrent)) {
    children({{"ff", *ff}, {"rec", *rec}});
  }
  bt::Tensor update(const bt::Tensor& xz) override {
    const int64_t n = xz.shape().back();
    return (*ff)(bt::slice_axis(xz, -1, 0, pixels)) + (*rec)(bt::slice_axis(xz, -1, pixels, n));
  }
};

// Ones for the inputs and for a tenth of the recurrent weights.
bt::Tensor tenth(int64_t n) {
  const bt::Tensor u = bt::nn::init::uniform()({n, n});
  return bt::concat({bt::full({pixels, n}, 1), bt::convert(bt::less(u, 0.1), bt::DType::F32)}, 0);
}

// A tenth of n × n weights, and nothing stored for the others.
Part sparse_tenth(int64_t n) {
  bt::Rng              rng(7);
  std::vector<int32_t> rows, cols;
  for (int32_t i = 0; i < n; ++i)
    for (int32_t j = 0; j < n; ++j)
      if (rng.uniform() < 0.1) {
        rows.push_back(i);
        cols.push_back(j);
      }
  const auto count = static_cast<int64_t>(rows.size());
  return std::make_shared<bt::nn::SparseLinear>(
      bt::coo(bt::Array::of<int32_t>(rows, {count}), bt::Array::of<int32_t>(cols, {count}), n, n),
      bt::nn::init::normal(0, std::sqrt(1.0 / static_cast<double>(n)))({count}));
}

Part wiring(const std::string& kind, int64_t n) {
  const bt::Tensor w = examples::input_and_recurrent(pixels, n, kind == "dense" ? 4 : 2);
  if (kind == "mask") return examples::linear(w, tenth(n));
  const bt::Tensor ff = bt::slice_axis(w, 0, 0, pixels), rec = bt::slice_axis(w, 0, pixels, pixels + n);
  if (kind == "signs") {
    const bt::Tensor excites = bt::concat({bt::full({48, 1}, 1), bt::full({16, 1}, -1)}, 0);
    return examples::linear(bt::concat({ff, bt::abs(rec) * excites}, 0));
  }
  if (kind == "sparse") return std::make_shared<TwoPaths>(examples::linear(ff), sparse_tenth(n));
  if (kind == "lora") return std::make_shared<TwoPaths>(examples::linear(ff), std::make_shared<bt::nn::LoRA>(n, 8, n));
  return examples::linear(w);
}

struct ConvNet : bt::nn::Module {
  bt::nn::Conv2d           conv{{8, 8, 1}, 4, 3, {.w_init = bt::nn::init::normal(0.5, 2)}};
  bt::nn::Expon            synapse{{8, 8, 4}, 10.0};
  bt::nn::LIF              neurons{{8, 8, 4}, examples::membrane};
  bt::nn::LeakyRateReadout out{4 * 4 * 4, 4, {.tau = bt::units::Time(10)}};
  ConvNet() { children({{"conv", conv}, {"synapse", synapse}, {"neurons", neurons}, {"out", out}}); }
  bt::Tensor update(const bt::Tensor& x) override {
    const bt::Tensor z = neurons(synapse(conv(bt::nn::Unflatten({8, 8, 1})(x))));
    return out(bt::nn::Flatten({4, 4, 4})(bt::nn::AvgPool2d(2)(z)));
  }
};

Part network(const std::string& kind) {
  if (kind == "conv") return std::make_shared<ConvNet>();
  const int64_t n = kind == "dense" ? 128 : kind == "signs" ? 64 : 96;
  return std::make_shared<examples::SpikingNet>(wiring(kind, n), std::make_shared<bt::nn::LIF>(n, examples::membrane),
                                                n, kind == "dense" ? 10 : 4);
}

int read_digits(const examples::Flags& flags) {
  const examples::Millisecond ms;
  const std::string           kind = flags["wiring"];
  const bool                  ten  = kind == "dense";
  const auto                  task =
      bt::tasks::make_task(fmt::format(R"({{"type": "spiking_digits", "classes": {}}})", ten ? 10 : 4), flags.seed());
  bt::random::seed(flags.seed());
  const Part         model = network(kind);
  examples::Settings settings =
      flags["rule"] == "BPTT" ? examples::bptt() : examples::pp_prop(bt::TraceDecay::decay(ten ? 0.97 : 0.95));
  settings.votes = true;
  if (kind == "conv") settings.lr = 1e-2;
  examples::Trainer trainer(*model, *task, settings);
  examples::Curves  curves;
  examples::train(trainer, kind, flags.length(20, ten ? 8 : kind == "conv" ? 16 : 10), ten ? 45 : 18, curves);
  const double accuracy = trainer.test(4).accuracy, goal = ten ? 0.6 : 0.8;
  return examples::finish(flags, curves, accuracy >= goal,
                          fmt::format("accuracy {:.3f} on unseen digits, goal {}", accuracy, goal));
}

}  // namespace

int main(int argc, char** argv) {
  return examples::guarded(read_digits,
                           {argc, argv, {{"wiring", "dense|signs|mask|sparse|lora|conv"}, {"rule", "pp_prop|BPTT"}}});
}
