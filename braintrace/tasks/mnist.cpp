// SPDX-License-Identifier: Apache-2.0
// Images of 28×28 (IDX files, plain or .gz), row by row or pixel by pixel; target at the end: the digit. The t10k files
// are the test part, and a fraction of the others is for validation. With "synthetic": true, the 8×8 digits of the
// library, enlarged.
#include "braintrace/data/idx.h"
#include "braintrace/tasks/digits.h"
#include "braintrace/tasks/families.h"
#include "braintrace/tasks/sample.h"

namespace braintrace::tasks {

namespace {

struct Mnist {
  data::IdxFile images, labels;

  Mnist(const std::string& folder, const std::string& part)
      : images(data::open_idx(folder, part + "-images-idx3-ubyte")),
        labels(data::open_idx(folder, part + "-labels-idx1-ubyte")) {
    require(images.shape() == Shape{images.size(), 28, 28}, "{}: expected images of 28×28, found {}.", images.path(),
            to_string(images.shape()));
    require(labels.shape() == Shape{images.size()}, "{}: expected one label for each of {} images, found {}.",
            labels.path(), images.size(), to_string(labels.shape()));
  }
};

std::shared_ptr<Task> mnist(const zoo::Fields& f, uint64_t seed) {
  const bool by_row = f.choice("by", {"row", "pixel"}) == "row";
  TaskFacts  facts{.input = {by_row ? 28 : 1}, .outputs = 10, .length = by_row ? 28 : 784};
  if (by_row) facts.image = {.height = 28, .width = 28, .by_row = true};
  if (f.flag("synthetic")) {
    const Split parts        = split(std::ssize(digits()), f, "validation");
    facts.train_samples      = std::ssize(parts.train);
    facts.validation_samples = std::ssize(parts.validation);
    return sampled(facts, seed, [=](Part part, int64_t which, Random&, const Sample& s) {
      const Digit& digit = digits()[static_cast<size_t>(parts.of(part)[static_cast<size_t>(which)])];
      for (size_t i = 0; i < 784; ++i) s.inputs[i] = digit.pixels[i / 28 * 8 / 28 * 8 + i % 28 * 8 / 28];
      s.label(digit.label);
      s.score_only(-1);
    });
  }
  if (!f.has("folder"))
    f.refuse("folder", "the folder with train-images-idx3-ubyte and the like is needed, or \"synthetic\": true.");
  const auto  train        = std::make_shared<Mnist>(f.text("folder"), "train");
  const auto  test         = std::make_shared<Mnist>(f.text("folder"), "t10k");
  const Split parts        = split(train->images.size(), f, "validation");
  facts.train_samples      = std::ssize(parts.train);
  facts.validation_samples = std::ssize(parts.validation);
  facts.test_samples       = test->images.size();
  facts.has_test           = true;
  return sampled(facts, seed, [=](Part part, int64_t number, Random&, const Sample& s) {
    const Mnist&  set    = part == Part::Test ? *test : *train;
    const int64_t which  = part == Part::Test ? number : parts.of(part)[static_cast<size_t>(number)];
    const Bytes   pixels = set.images.item(which);
    for (size_t i = 0; i < pixels.size(); ++i) s.inputs[i] = float(pixels[i]) / 255;
    const int32_t label = std::to_integer<int32_t>(set.labels.item(which)[0]);
    require(label < 10, "{}: label {} is {}; expected a digit.", set.labels.path(), which, label);
    s.label(label);
    s.score_only(-1);
  });
}

}  // namespace

std::vector<TaskType> mnist_tasks() {
  return {
      {"mnist",
       "MNIST: images by `\"row\"` or by `\"pixel\"`; a folder with the four IDX files; target at the end: the digit",
       "folder? by=\"row\" synthetic=false validation=0.2", mnist},
  };
}

}  // namespace braintrace::tasks
