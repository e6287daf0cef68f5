// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/learnable_delay.h"

#include <cmath>

#include <fmt/format.h>

#include "braintrace/etp/element_wise.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace::nn {

namespace {

constexpr double most_steps = 100000;

// Number of past steps that the kernel covers: the longest delay, plus its right half.
int64_t reach(units::Time max, const StepSize& dt, int64_t width) {
  const double steps = max.value / dt.ms();
  require(steps >= 0 && steps <= most_steps, "LearnableDelay: max must be from 0 to {} steps of {} ms, got {} ms.",
          most_steps, dt.ms(), max.value);
  require(width >= 1 && width <= 1000, "LearnableDelay: width must be from 1 to 1000 steps, got {}.", width);
  return static_cast<int64_t>(std::ceil(steps)) + width;
}

Tensor first_delays(const Size& size, units::Time max, const LearnableDelayOptions& o) {
  reach(max, o.dt, o.width);  // checks them
  return o.delay.value_or(init::uniform(0, max.value))(size.dims());
}

Ints with_slots(Ints dims, int64_t slots) {
  dims.push_back(slots);
  return dims;
}

}  // namespace

LearnableDelay::LearnableDelay(const Size& size, units::Time max, LearnableDelayOptions o)
    : delay(state("delay", ParamState(first_delays(size.checked("LearnableDelay", "size"), max, o)))),
      buffer(
          state("buffer", HiddenGroupState([shape = with_slots(size.dims(), reach(max, o.dt, o.width))](BatchSize b) {
                  return Leaves{{"", Initializer(0)(batched(shape, b))}};
                }))),
      dt_(o.dt.ms()),
      max_(max.value),
      width_(o.width) {
  field("in_size", size.text());
  field("max", fmt::format("{} ms", max_));
}

Tensor LearnableDelay::update(const Tensor& x) {
  const Tensor  old   = buffer.value();
  const int64_t slots = old.shape().back();
  const Tensor  past =
      concat({old, expand_dims(convert(x, old.dtype()), -1)}, -1);  // slot j holds x_{t-k}, k = slots - j
  const Tensor ms = minimum(maximum(element_wise(delay.value()), 0), max_);
  const double s  = static_cast<double>(width_);
  const Tensor k  = static_cast<double>(slots) - convert(arange(slots + 1), old.dtype());
  const Tensor u  = expand_dims(convert(ms, old.dtype()) / dt_, -1) - k;
  // Derivatives from the right, also where d is a whole number.
  const Tensor distance = select(greater_equal(u, 0), u, -u);
  const Tensor inside   = logical_and(greater_equal(u, -s), less(u, s));
  const Tensor w        = select(inside, (1 - distance / s) / s, zeros_like(u));
  buffer.set(slice_axis(past, -1, 1, slots + 1));
  return sum(past * w, {-1});
}

}  // namespace braintrace::nn
