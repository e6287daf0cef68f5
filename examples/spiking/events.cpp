// SPDX-License-Identifier: Apache-2.0
// Classifies recordings of event cameras, as frames of events, with a target at every step.
//
//   --set    nmnist, dvs_gesture, shd or ssc, from the folder --data; without it, synthetic events of the same shape:
//            a spot crosses the sensor, and its direction is the class. --quick: a sensor of 8 × 8 and four directions.
//   --net    lif   --layers layers of --units neurons whose weights act on the potential
//            conv  two convolutions with normalization and pooling and a dense layer, all of spiking neurons
//   --rule   pp_prop, decay 0.99; D_RTRL, whose traces of kernels are larger than the images; BPTT
//   --lanes  yes: one learner per sample, mapped over the batch
//
// Should reach: accuracy 0.9 on unseen recordings (lif), 0.7 (conv).
#include <nlohmann/json.hpp>

#include "examples/spiking/layers.h"

namespace {

using Part = std::shared_ptr<bt::nn::Module>;

struct LifNet : examples::SpikingLayers {
  LifNet(int64_t layers, int64_t n_in, int64_t n, int64_t classes) : SpikingLayers(n, classes, 20) {
    using bt::nn::init::plain::kaiming_normal;
    for (int64_t layer = 0; layer < layers; ++layer) {
      const int64_t    from = layer ? n : n_in;
      const bt::Tensor ff = kaiming_normal(6)({from, n}), rec = kaiming_normal(2)({n, n});
      neurons.push_back(std::make_shared<bt::nn::LIF>(n, bt::nn::LIFOptions{.tau = 20.0}));
      const auto comm =
          std::make_shared<bt::nn::Linear>(from + n, n, bt::nn::LinearOptions{.w_init = bt::concat({ff, rec}, 0)});
      inputs.push_back(std::make_shared<bt::nn::DeltaProj>(comm, neurons.back()));
    }
    children({{"neurons", neurons}, {"inputs", inputs}, {"out", out}});
  }
};

// (conv → neurons → pooling → norm) twice, then a dense layer. The states keep the shape of the images and no operation
// mixes their positions, so the kernels have traces.
struct ConvNet : bt::nn::Module {
  bt::nn::Initializer strong = bt::nn::init::variance_scaling(
      40, bt::nn::init::Fan::Average, bt::nn::init::Spread::Normal, bt::nn::init::Layout::ChannelLast);
  bt::nn::LIFOptions       fast{.tau = 2.0, .surrogate = "arctan"};
  bt::nn::Conv2d           conv1, conv2;
  bt::nn::LayerNorm        norm1, norm2;
  bt::nn::IF               z1, z2, z3;
  bt::nn::Linear           dense;
  bt::nn::LeakyRateReadout out;
  bt::nn::Size             flat;

  ConvNet(const bt::Shape& image, int64_t channels, int64_t n, int64_t classes)
      : conv1(image, channels, 3, {.w_init = strong}),
        conv2({image[0] / 2, image[1] / 2, channels}, channels, 3, {.w_init = strong}),
        norm1(channels, {.use_fast_variance = false}),
        norm2(channels, {.use_fast_variance = false}),
        z1({image[0], image[1], channels}, fast),
        z2({image[0] / 2, image[1] / 2, channels}, fast),
        z3(n, fast),
        dense(image[0] / 4 * (image[1] / 4) * channels, n,
              {.w_init = bt::nn::init::plain::kaiming_normal(40), .b_init = bt::nn::no_bias}),
        out(n, classes, {.tau = bt::units::Time(10)}),
        flat({image[0] / 4, image[1] / 4, channels}) {
    children({{"conv1", conv1}, {"norm1", norm1}, {"z1", z1}, {"conv2", conv2}, {"norm2", norm2}, {"z2", z2}});
    children({{"dense", dense}, {"z3", z3}, {"out", out}});
  }
  bt::Tensor update(const bt::Tensor& x) override {
    bt::nn::MaxPool2d pool(2);
    const bt::Tensor  a = norm1(pool(z1(conv1(x)))), b = norm2(pool(z2(conv2(a))));
    return out(z3(dense(bt::nn::Flatten(flat)(b))));
  }
};

nlohmann::json description(const examples::Flags& flags) {
  const char* layout = flags["net"] == "conv" ? "hwc" : "flat";
  if (flags.quick() && flags["data"].empty())
    return {
        {"type", "event_stream"},     {"height", 8}, {"width", 8}, {"classes", 4}, {"events", 200}, {"layout", layout},
        {"bins", flags.count("bins")}};
  nlohmann::json set{{"type", flags["set"]}, {"bins", flags.count("bins")}};
  if (flags["data"].empty())
    set["synthetic"] = true;
  else
    set["folder"] = flags["data"];
  const bool camera = flags["set"] == "nmnist" || flags["set"] == "dvs_gesture";
  bt::require(camera || flags["net"] == "lif", "--net conv needs the frames of a camera; {} has one row of channels.",
              flags["set"]);
  if (camera) set["layout"] = layout;
  return set;
}

int watch(const examples::Flags& flags) {
  const bt::Environment::Scope ms({.dt = 1.0});
  const auto                   task    = bt::tasks::make_task(description(flags), flags.seed());
  const bt::Shape              input   = task->facts().input;
  const int64_t                classes = task->facts().outputs;
  const bool                   conv    = flags["net"] == "conv";
  bt::random::seed(flags.seed());
  const Part model =
      conv ? Part(std::make_shared<ConvNet>(input, flags.count("channels"), flags.length(512, 32), classes))
           : std::make_shared<LifNet>(flags.count("layers"), input[0], flags.count("units"), classes);
  examples::Settings settings{.rule  = flags["rule"],
                              .batch = flags.count("batch"),
                              .lr    = flags.quick() ? 3e-3 : 1e-3,
                              .lanes = flags.yes("lanes"),
                              .votes = true};
  if (flags["rule"] == "pp_prop") settings.options.decay_or_rank = bt::TraceDecay::decay(0.99);
  examples::Trainer trainer(*model, *task, settings);
  examples::Curves  curves;
  examples::train(trainer, flags["net"], flags.count("epochs"), flags.length(20, 10), curves,
                  [](const examples::Score& s) { return s.accuracy >= 0.95; });
  const double accuracy = trainer.test(4).accuracy, goal = conv ? 0.7 : 0.9;
  return examples::finish(flags, curves, accuracy >= goal,
                          fmt::format("accuracy {:.3f} on unseen recordings, goal {}", accuracy, goal));
}

}  // namespace

int main(int argc, char** argv) {
  return examples::guarded(watch, {argc,
                                   argv,
                                   {{"set", "nmnist|dvs_gesture|shd|ssc"},
                                    {"data", ""},
                                    {"net", "lif|conv"},
                                    {"layers", "1"},
                                    {"units", {"200", "64"}},
                                    {"channels", {"32", "4"}},
                                    {"bins", {"200", "10"}},
                                    {"batch", {"256", "16"}},
                                    {"epochs", {"20", "15"}},
                                    {"rule", "pp_prop|D_RTRL|BPTT"},
                                    {"lanes", "no|yes"}}});
}
