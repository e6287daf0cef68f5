// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/readout.h"

#include <cmath>

#include "braintrace/etp/dense.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace::nn {

LeakyRateReadout::LeakyRateReadout(const Size& in_size, const Size& out_size, ReadoutOptions o)
    : W(state("W", ParamState(o.w_init({in_size.checked("LeakyRateReadout", "in_size").dims()[0],
                                        out_size.checked("LeakyRateReadout", "out_size").dims()[0]})))),
      r(state("r", hidden_state({out_size.dims()[0]}, o.r_init))),
      decay_(std::exp(-o.dt.ms() / o.tau.value)) {
  require(o.tau.value > 0, "LeakyRateReadout: tau must be positive, got {} ms.", o.tau.value);
  field("in_size", in_size.text());
  field("out_size", out_size.text());
  field("tau", fmt::format("{} ms", o.tau.value));
}

Tensor LeakyRateReadout::update(const Tensor& x) {
  const Tensor kept = decay_ * r.value();
  const Tensor y    = fold_batch(x, 1, [&](const Tensor& v) { return matmul(v, W.value()); });
  r.set(kept + y);
  return r.value();
}

LeakySpikeReadout::LeakySpikeReadout(const Size& in_size, const Size& out_size, LIFOptions options, Initializer w_init)
    : W(state("W", ParamState(w_init({in_size.checked("LeakySpikeReadout", "in_size").dims()[0],
                                      out_size.checked("LeakySpikeReadout", "out_size").dims()[0]})))),
      neuron(out_size.dims()[0], std::move(options)) {
  children({{"neuron", neuron}});
}
Tensor LeakySpikeReadout::update(const Tensor& x) {
  neuron.add_delta(fold_batch(x, 1, [&](const Tensor& v) { return matmul(v, W.value()); }));
  return neuron(Tensor());
}

SpikeCountReadout::SpikeCountReadout(const Size& size)
    : n(state("n", hidden_state(size.checked("SpikeCountReadout", "size").dims()))) {}
Tensor SpikeCountReadout::update(const Tensor& z) {
  n.set(n.value() + z);
  return n.value();
}

namespace {

ShortTermState filled(const Ints& dims, double value) {
  return ShortTermState([=](BatchSize b) { return Leaves{{"", Initializer(value)(batched(dims, b))}}; });
}

}  // namespace

FirstSpikeReadout::FirstSpikeReadout(const Size& size, double never, StepSize dt)
    : t_first(state("t_first", filled(size.checked("FirstSpikeReadout", "size").dims(), never))),
      t(state("t", ShortTermState([](BatchSize) {
                return Leaves{{"", Initializer(0)({})}};
              }))),
      never_(never),
      dt_(dt) {}
Tensor FirstSpikeReadout::update(const Tensor& z) {
  const Tensor seen = t_first.value(), now = t.value();
  const Tensor first = logical_and(equal(seen, never_), greater(z, 0));
  t_first.set(stop_gradient(select(first, broadcast_to(convert(now, seen.dtype()), seen.shape()), seen)));
  t.set(now + dt_.ms());
  return t_first.value();
}

Delay::Delay(const Size& size, int64_t steps)
    : buffer(state("buffer", ShortTermState([dims = size.checked("Delay", "size").dims(), steps](BatchSize b) {
                     Shape shape = batched(dims, b);
                     shape.insert(shape.begin(), steps);
                     return Leaves{{"", Initializer(0)(shape)}};
                   }))) {
  require(steps > 0, "Delay: the number of steps must be positive, got {}.", steps);
}
Tensor Delay::update(const Tensor& x) {
  const Tensor  old = buffer.value();
  const int64_t n   = old.shape()[0];
  const Tensor  now = expand_dims(convert(x, old.dtype()), 0);
  buffer.set(n == 1 ? now : concat({slice_axis(old, 0, 1, n), now}, 0));
  return squeeze(slice_axis(old, 0, 0, 1), {0});
}

}  // namespace braintrace::nn
