// SPDX-License-Identifier: Apache-2.0
// Normalization layers. Plain operations read their parameters, which therefore get the same-step gradient.
#pragma once

#include "braintrace/nn/layer.h"

namespace braintrace::nn {

struct BatchNormOptions {
  double momentum = 0.99, eps = 1e-5;
  bool   affine = true;
};

// y = (x - mean)/√(var + ε) scale + bias, per channel (last axis), over all other axes.
// Training (Environment::training): statistics of the batch; running ← 0.99 running + 0.01 batch. Otherwise: running.
// Parameter "weight": leaves bias, scale (1,…,1,C); running_mean and running_var are long-term states.
class BatchNorm : public Module {
 public:
  BatchNorm(size_t spatial_axes, int64_t channels, BatchNormOptions options = {});
  Tensor update(const Tensor& x) override;

  LongTermState             running_mean, running_var;
  std::optional<ParamState> weight;

 private:
  size_t           axes_;
  BatchNormOptions options_;
};
struct BatchNorm0d : BatchNorm {
  explicit BatchNorm0d(int64_t channels, BatchNormOptions o = {}) : BatchNorm(0, channels, o) {}
};
struct BatchNorm1d : BatchNorm {  // [B,L,C] or [B,C]
  explicit BatchNorm1d(int64_t channels, BatchNormOptions o = {}) : BatchNorm(1, channels, o) {}
};
struct BatchNorm2d : BatchNorm {
  explicit BatchNorm2d(int64_t channels, BatchNormOptions o = {}) : BatchNorm(2, channels, o) {}
};
struct BatchNorm3d : BatchNorm {
  explicit BatchNorm3d(int64_t channels, BatchNormOptions o = {}) : BatchNorm(3, channels, o) {}
};

struct LayerNormOptions {
  double eps               = 1e-6;
  bool   use_scale         = true;
  bool   use_bias          = true;
  bool   use_fast_variance = true;  // max(0, E[x²] - E[x]²); otherwise in two passes
};

// y = (x - mean)/√(var + ε) scale + bias   over the last axis
class LayerNorm : public Module {
 public:
  explicit LayerNorm(int64_t features, LayerNormOptions options = {});
  Tensor update(const Tensor& x) override;

  std::optional<ParamState> weight;  // leaves scale, bias

 private:
  LayerNormOptions options_;
  int64_t          features_;
};

// y = x/√(mean(x²) + ε) scale   over the last axis
class RMSNorm : public Module {
 public:
  explicit RMSNorm(int64_t features, double eps = 1e-6);
  Tensor update(const Tensor& x) override;

  ParamState weight;  // leaf scale

 private:
  double eps_;
};

// LayerNorm within groups of channels (last axis) and over all spatial axes, separately for each sample of a leading
// batch axis.
class GroupNorm : public Module {
 public:
  explicit GroupNorm(int64_t features, int64_t num_groups = 32, LayerNormOptions options = {});
  Tensor update(const Tensor& x) override;

  std::optional<ParamState> weight;

 private:
  LayerNormOptions options_;
  int64_t          features_, groups_;
};

// (x - mean)/√(max(E[x²]-E[x]², 0) + ε) over the last axis, without parameters.
Tensor standardize(const Tensor& x, double eps = 1e-5);

}  // namespace braintrace::nn
