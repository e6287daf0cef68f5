// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/generic.h"

#include "braintrace/model/environment.h"
#include "braintrace/ops/activation.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/random.h"
#include "braintrace/ops/reduce.h"

namespace braintrace::nn {

ActivationLayer::ActivationLayer(Activation activation) : activation_(std::move(activation)) {
  field("activation", activation_.name());
}

PReLU::PReLU(int64_t num_parameters, double init)
    : weight(state("weight", ParamState(Initializer(init)({num_parameters})))) {
  require(num_parameters > 0, "PReLU: the number of parameters must be positive, got {}.", num_parameters);
}
Tensor PReLU::update(const Tensor& x) { return maximum(x, 0) + weight.value() * minimum(x, 0); }

Tensor GLU::update(const Tensor& x) {
  require(x.rank() >= 1 && x.shape().back() % 2 == 0, "GLU: the last axis must have an even size, got {}.",
          to_string(x.type()));
  const Tensors halves = split(x, 2, -1);
  return halves[0] * sigmoid(halves[1]);
}

Dropout::Dropout(double keep, int channel_axes) : keep_(keep), channel_axes_(channel_axes) {
  require(keep > 0 && keep <= 1, "Dropout: the probability to keep must lie in (0, 1], got {}.", keep);
  field("prob", fmt::format("{}", keep));
}
Tensor Dropout::update(const Tensor& x) {
  if (!Environment::training() || keep_ == 1) return x;
  Shape shape = x.shape();
  require(x.rank() > channel_axes_, "Dropout: {} spatial axes and channels are needed, got {}.", channel_axes_,
          to_string(x.type()));
  for (int i = 0; i < channel_axes_; ++i) shape[static_cast<size_t>(x.rank() - 2 - i)] = 1;
  const Tensor kept = random::bernoulli(random::next(), keep_, shape);
  return select(broadcast_to(kept, x.shape()), x / keep_, zeros_like(x));
}

Pool::Pool(PoolKind kind, PoolOptions options) : kind_(kind), options_(std::move(options)) {
  require(!options_.window.empty(), "pooling: the window needs one size per spatial axis.");
  for (int64_t w : options_.window) require(w > 0, "pooling: window sizes must be positive, got {}.", w);
  field("kernel_size", Size(options_.window).text());
}
Tensor Pool::update(const Tensor& x) {
  const int  sample = static_cast<int>(options_.window.size()) + 1;
  const bool single = x.rank() == sample;
  require(single || x.rank() == sample + 1, "pooling: x needs {} axes, or {} with a batch, got {}.", sample, sample + 1,
          to_string(x.type()));
  const Tensor in = single ? expand_dims(x, 0) : x;
  const Tensor y  = pooled(in);
  return single ? squeeze(y, {0}) : y;
}
Tensor Pool::pooled(const Tensor& x) const {
  switch (kind_) {
    case PoolKind::Max:
      return max_pool(x, options_);
    case PoolKind::Mean:
      return mean_pool(x, options_);
    case PoolKind::Sum:
      return sum_pool(x, options_);
    default:
      return sum_pool(x, options_) / static_cast<double>(size_of(options_.window));
  }
}

AdaptivePool::AdaptivePool(PoolKind kind, Ints out) : kind_(kind), out_(std::move(out)) {
  require(kind == PoolKind::Max || kind == PoolKind::Mean, "adaptive pooling: expected max or mean.");
  for (int64_t n : out_) require(n > 0, "adaptive pooling: target sizes must be positive, got {}.", n);
}
Tensor AdaptivePool::update(const Tensor& x) {
  const int spatial = static_cast<int>(out_.size()), lead = x.rank() - spatial - 1;
  require(lead == 0 || lead == 1, "adaptive pooling: x needs {} axes, or {} with a batch, got {}.", spatial + 1,
          spatial + 2, to_string(x.type()));
  // [n] as [out, n/out] for every spatial axis; the second of each pair is reduced.
  Shape split(x.shape().begin(), x.shape().begin() + lead);
  Ints  over;
  for (int i = 0; i < spatial; ++i) {
    const int64_t n = x.shape()[static_cast<size_t>(lead + i)], parts = out_[static_cast<size_t>(i)];
    require(n % parts == 0, "adaptive pooling: an axis of size {} cannot be divided into {} equal parts.", n, parts);
    split.push_back(parts);
    over.push_back(static_cast<int64_t>(split.size()));
    split.push_back(n / parts);
  }
  split.push_back(x.shape().back());
  const Tensor windows = reshape(x, split);
  return kind_ == PoolKind::Max ? max(windows, over) : mean(windows, over);
}

Tensor Flatten::update(const Tensor& x) {
  const int kept = trailing_ ? x.rank() - trailing_ : 1;
  require(kept >= 0 && x.rank() >= 1, "Flatten: {} axes expected, got {}.", trailing_, to_string(x.type()));
  Shape shape(x.shape().begin(), x.shape().begin() + kept);
  shape.push_back(-1);
  return reshape(x, shape);
}
Tensor Unflatten::update(const Tensor& x) {
  require(x.rank() >= 1, "Unflatten: x needs at least one axis, got {}.", to_string(x.type()));
  Shape shape(x.shape().begin(), x.shape().end() - 1);
  shape.insert(shape.end(), sizes_.dims().begin(), sizes_.dims().end());
  return reshape(x, shape);
}

Sequential::Sequential(std::vector<std::shared_ptr<Module>> layers) : layers_(std::move(layers)) {
  children({{"layers", layers_}});
}
Tensor Sequential::update(const Tensor& x) {
  Tensor y = x;
  for (const auto& layer : layers_) y = (*layer)(y);
  return y;
}

}  // namespace braintrace::nn
