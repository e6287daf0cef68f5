// SPDX-License-Identifier: Apache-2.0
// Handwritten digits, 8×8 pixels, 1797 images that come with the library.
//
//   spiking_digits     one neuron per pixel: Poisson spikes with probability pixel·rate·dt, different in each
//                      epoch, or one spike each, the brighter the earlier; target at every step: the digit
//   sequential_digits  the image row by row (8 steps of 8) or pixel by pixel (64 steps of 1); target at the end
#include "braintrace/tasks/digits.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "braintrace/tasks/encode.h"
#include "braintrace/tasks/families.h"

namespace braintrace::tasks {

namespace {

constexpr char rows[] =
#include "braintrace/tasks/digits_data.inc"
    ;
constexpr int64_t row_length = 1 + 64, image_count = (sizeof(rows) - 1) / row_length;
static_assert(image_count == 1797);

// A task on the images of the first `classes` digits.
std::shared_ptr<Task> on_digits(TaskFacts facts, const zoo::Fields& f, uint64_t seed,
                                std::function<void(const Digit&, Random&, const Sample&)> show) {
  const int64_t classes = count(f, "classes");
  if (classes > 10) f.refuse("classes", fmt::format("there are 10 digits, not {}.", classes));
  std::vector<Digit> chosen;
  std::copy_if(digits().begin(), digits().end(), std::back_inserter(chosen),
               [&](const Digit& d) { return d.label < classes; });
  const Split parts        = split(std::ssize(chosen), f, "validation");
  facts.outputs            = classes;
  facts.train_samples      = std::ssize(parts.train);
  facts.validation_samples = std::ssize(parts.validation);
  return sampled(facts, seed, [=](Part part, int64_t which, Random& random, const Sample& s) {
    const Digit& digit = chosen[static_cast<size_t>(parts.of(part)[static_cast<size_t>(which)])];
    show(digit, random, s);
    s.label(digit.label);
  });
}

std::shared_ptr<Task> spiking_digits(const zoo::Fields& f, uint64_t seed) {
  const int64_t T       = count(f, "length");
  const double  p       = spike_chance(f, "rate_hz");
  const bool    latency = f.choice("encoding", {"poisson", "latency"}) == "latency";
  return on_digits({.input = {64}, .length = T, .image = ImageLayout{.height = 8, .width = 8}}, f, seed,
                   [=](const Digit& digit, Random& random, const Sample& s) {
                     Array pixels({DType::F32, {64}});
                     for (size_t i = 0; i < 64; ++i)
                       pixels.mutable_data<float>()[i] = static_cast<float>(digit.pixels[i] * (latency ? 1 : p));
                     const Array spikes = latency ? latency_spikes(pixels, T) : poisson_spikes(pixels, T, random);
                     std::copy_n(spikes.data<float>(), spikes.size(), s.inputs.begin());
                   });
}

std::shared_ptr<Task> sequential_digits(const zoo::Fields& f, uint64_t seed) {
  const bool by_row = f.choice("by", {"row", "pixel"}) == "row";
  TaskFacts  facts{.input = {by_row ? 8 : 1}, .length = by_row ? 8 : 64};
  if (by_row) facts.image = {.height = 8, .width = 8, .by_row = true};
  return on_digits(facts, f, seed, [=](const Digit& digit, Random&, const Sample& s) {
    std::copy(digit.pixels.begin(), digit.pixels.end(), s.inputs.begin());
    s.score_only(-1);
  });
}

}  // namespace

const std::vector<Digit>& digits() {
  static const std::vector<Digit> all = [] {
    std::vector<Digit> out(image_count);
    const char*        next = rows;
    for (Digit& d : out) {
      d.label = *next++ - '0';
      for (float& pixel : d.pixels) pixel = static_cast<float>(*next++ - 'a') / 16;
    }
    return out;
  }();
  return all;
}

std::vector<TaskType> digit_tasks() {
  return {
      {"spiking_digits",
       "spikes of the 64 pixels of a handwritten digit, with `\"poisson\"` or `\"latency\"` coding; target at "
       "every step: the digit",
       "encoding=\"poisson\" length=25 rate_hz=80 dt_ms=1 classes=10 validation=0.2", spiking_digits},
      {"sequential_digits", "a handwritten digit, by `\"row\"` or by `\"pixel\"`; target at the end: the digit",
       "by=\"row\" classes=10 validation=0.2", sequential_digits},
  };
}

}  // namespace braintrace::tasks
