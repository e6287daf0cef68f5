// SPDX-License-Identifier: Apache-2.0
// Layers without online weights: activations, dropout, pooling, flattening, sequences of layers.
#pragma once

#include "braintrace/model/random_stream.h"
#include "braintrace/nn/activation.h"
#include "braintrace/nn/layer.h"
#include "braintrace/ops/pool.h"

namespace braintrace::nn {

// y = φ(x)
class ActivationLayer : public Module {
 public:
  explicit ActivationLayer(Activation activation);
  Tensor update(const Tensor& x) override { return activation_(x); }

 private:
  Activation activation_;
};

// y = x where x > 0, else a x a trainable, initially 0.25
class PReLU : public Module {
 public:
  explicit PReLU(int64_t num_parameters = 1, double init = 0.25);
  Tensor update(const Tensor& x) override;

  ParamState weight;
};

// Gated linear unit: a σ(b), [a;b] = x on the last axis
class GLU : public Module {
 public:
  Tensor update(const Tensor& x) override;
};

// While training, keeps each element with probability `keep` and scales it by 1/keep; otherwise returns x. With
// channel_axes > 0 whole channels (last axis) are kept or dropped together over that many spatial axes.
class Dropout : public Module {
 public:
  explicit Dropout(double keep = 0.5, int channel_axes = 0);
  Tensor update(const Tensor& x) override;

 private:
  double keep_;
  int    channel_axes_;
};

// MeanOfAll divides by the size of the window, including padding.
enum class PoolKind : uint8_t { Max, Mean, Sum, MeanOfAll };
// Windows over the axes before the channels (last axis), or as specified by the layout.
class Pool : public Module {
 public:
  Pool(PoolKind kind, PoolOptions options);
  Tensor update(const Tensor& x) override;

 private:
  Tensor pooled(const Tensor& x) const;

  PoolKind    kind_;
  PoolOptions options_;
};
// Divides each spatial axis into `out` equal parts and reduces each; `out` must divide the size.
class AdaptivePool : public Module {
 public:
  AdaptivePool(PoolKind kind, Ints out);
  Tensor update(const Tensor& x) override;

 private:
  PoolKind kind_;
  Ints     out_;
};

// Merges all axes from `first` on; if in_size is known, a leading batch axis is kept.
class Flatten : public Module {
 public:
  Flatten() = default;
  explicit Flatten(const Size& in_size) : trailing_(static_cast<int>(in_size.rank())) {}
  Tensor update(const Tensor& x) override;

 private:
  int trailing_ = 0;  // 0: all axes but the first
};
// Splits the last axis into these axes.
class Unflatten : public Module {
 public:
  explicit Unflatten(Size sizes) : sizes_(std::move(sizes)) {}
  Tensor update(const Tensor& x) override;

 private:
  Size sizes_;
};

// Applies layers in order; their names are their positions.
class Sequential : public Module {
 public:
  explicit Sequential(std::vector<std::shared_ptr<Module>> layers);
  Tensor update(const Tensor& x) override;
  size_t size() const { return layers_.size(); }

 private:
  std::vector<std::shared_ptr<Module>> layers_;
};

}  // namespace braintrace::nn
