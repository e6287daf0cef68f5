// SPDX-License-Identifier: Apache-2.0
// Convolution layers (cross-correlation: the kernel is not flipped) around the trainable `conv`.
//
//   Conv2d({28, 28, 1}, 8, 3)     in_size (*spatial, C), channels last; (C, *spatial) with channel_first
//   Conv2d(1, 8, 3)               in_channels alone: channels first, any spatial size
//
// Parameter "weight": weight (*k, C/groups, O) and, if requested, bias (1,…,1,O); channels first: bias (1,O,1,…,1).
#pragma once

#include "braintrace/nn/linear.h"
#include "braintrace/ops/conv.h"

namespace braintrace::nn {

// SAME, VALID, one number for all sides, or (before, after) per spatial axis.
class ConvPadding {
 public:
  ConvPadding(const char* name) : ConvPadding(std::string(name)) {}
  ConvPadding(const std::string& name);
  ConvPadding(int64_t all) : kind_(Padding::Kind::Explicit), pairs_{{all, all}} {}
  ConvPadding(int all) : ConvPadding(static_cast<int64_t>(all)) {}
  ConvPadding(std::vector<std::pair<int64_t, int64_t>> pairs)
      : kind_(Padding::Kind::Explicit), pairs_(std::move(pairs)) {}

  Padding     of(size_t axes, const std::string& layer) const;
  std::string text() const;

 private:
  Padding::Kind                            kind_;
  std::vector<std::pair<int64_t, int64_t>> pairs_;
};

struct ConvLayerOptions {
  Ints         stride        = {1};
  ConvPadding  padding       = "SAME";
  Ints         lhs_dilation  = {1};
  Ints         rhs_dilation  = {1};
  int64_t      groups        = 1;
  Initializer  w_init        = init::xavier_normal();
  OptionalInit b_init        = no_bias;
  WeightFactor w_mask        = {};  // kernel ∘ mask is used
  bool         channel_first = false;
};

class ConvNd : public Module {
 public:
  ConvNd(size_t axes, const Size& in_size, int64_t out_channels, const Ints& kernel_size, ConvLayerOptions options);
  Tensor update(const Tensor& x) override;

  // Known if in_size includes the spatial sizes.
  const std::optional<Shape>& out_size() const { return out_size_; }

  ParamState weight;

 private:
  Shape output_shape(const Shape& in) const;

  size_t               axes_;
  std::string          layer_;
  ConvLayerOptions     options_;
  Padding              padding_;
  Tensor               mask_;
  int64_t              in_channels_, out_channels_;
  std::optional<Shape> in_size_, out_size_;
};

struct Conv1d : ConvNd {
  Conv1d(const Size& in_size, int64_t out_channels, const Size& kernel_size, ConvLayerOptions options = {})
      : ConvNd(1, in_size, out_channels, kernel_size.dims(), std::move(options)) {}
};
struct Conv2d : ConvNd {
  Conv2d(const Size& in_size, int64_t out_channels, const Size& kernel_size, ConvLayerOptions options = {})
      : ConvNd(2, in_size, out_channels, kernel_size.dims(), std::move(options)) {}
};
struct Conv3d : ConvNd {
  Conv3d(const Size& in_size, int64_t out_channels, const Size& kernel_size, ConvLayerOptions options = {})
      : ConvNd(3, in_size, out_channels, kernel_size.dims(), std::move(options)) {}
};

}  // namespace braintrace::nn
