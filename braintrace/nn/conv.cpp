// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/conv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/etp/conv.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace::nn {

namespace {

// One number applies to all axes.
Ints per_axis(const Ints& list, size_t axes, const std::string& layer, const char* what) {
  require(list.size() == 1 || list.size() == axes, "{}: {} needs 1 or {} entries, got ({}).", layer, what, axes,
          fmt::join(list, ", "));
  for (int64_t v : list) require(v > 0, "{}: {} must be positive, got ({}).", layer, what, fmt::join(list, ", "));
  return list.size() == axes ? list : Ints(axes, list[0]);
}

std::string layout(size_t axes, bool channel_first) {
  const std::string spatial = std::string("DHW").substr(3 - axes);
  const std::string data    = channel_first ? "NC" + spatial : "N" + spatial + "C";
  return data + "," + spatial + "IO->" + data;
}

ConvLayerOptions checked(ConvLayerOptions o, size_t axes, const std::string& layer) {
  o.stride       = per_axis(o.stride, axes, layer, "stride");
  o.lhs_dilation = per_axis(o.lhs_dilation, axes, layer, "lhs_dilation");
  o.rhs_dilation = per_axis(o.rhs_dilation, axes, layer, "rhs_dilation");
  require(o.groups > 0, "{}: groups must be positive, got {}.", layer, o.groups);
  return o;
}

int64_t channels_of(const Size& in_size, size_t axes, bool channel_first, const std::string& layer) {
  require(in_size.rank() == 1 || in_size.rank() == axes + 1,
          "{}: in_size needs {} entries ({}), or one: the number of input "
          "channels. Got {}.",
          layer, axes + 1, channel_first ? "channels, then space" : "space, then channels", in_size.text());
  return in_size.rank() == 1 || channel_first ? in_size.dims()[0] : in_size.last();
}

}  // namespace

ConvPadding::ConvPadding(const std::string& name) {
  require(name == "SAME" || name == "VALID",
          "padding: expected SAME, VALID, a number or (before, after) pairs, "
          "got '{}'.",
          name);
  kind_ = name == "SAME" ? Padding::Kind::Same : Padding::Kind::Valid;
}

Padding ConvPadding::of(size_t axes, const std::string& layer) const {
  if (kind_ == Padding::Kind::Same) return Padding::same();
  if (kind_ == Padding::Kind::Valid) return Padding::valid();
  require(pairs_.size() == 1 || pairs_.size() == axes, "{}: padding needs 1 or {} (before, after) pairs, got {}.",
          layer, axes, pairs_.size());
  Ints lo, hi;
  for (size_t i = 0; i < axes; ++i) {
    const auto [before, after] = pairs_[pairs_.size() == 1 ? 0 : i];
    require(before >= 0 && after >= 0, "{}: padding must not be negative, got ({}, {}).", layer, before, after);
    lo.push_back(before);
    hi.push_back(after);
  }
  return Padding::of(lo, hi);
}

std::string ConvPadding::text() const {
  if (kind_ == Padding::Kind::Same) return "SAME";
  if (kind_ == Padding::Kind::Valid) return "VALID";
  std::string out;
  for (const auto& [before, after] : pairs_) out += fmt::format("{}({}, {})", out.empty() ? "" : ", ", before, after);
  return out;
}

ConvNd::ConvNd(size_t axes, const Size& in_size, int64_t out_channels, const Ints& kernel_size, ConvLayerOptions o)
    : weight(ParamState(Leaves{})),
      axes_(axes),
      layer_(fmt::format("Conv{}d", axes)),
      options_(checked(o, axes, layer_)),
      padding_(o.padding.of(axes, layer_)),
      out_channels_(out_channels) {
  in_size.checked(layer_.c_str(), "in_size");
  if (in_size.rank() == 1) options_.channel_first = true;
  in_channels_ = channels_of(in_size, axes, options_.channel_first, layer_);
  require(out_channels > 0, "{}: out_channels must be positive, got {}.", layer_, out_channels);
  require(in_channels_ % o.groups == 0 && out_channels % o.groups == 0,
          "{}: {} input and {} output channels cannot be divided into {} groups.", layer_, in_channels_, out_channels,
          o.groups);
  Shape kernel = per_axis(kernel_size, axes, layer_, "kernel_size");
  kernel.push_back(in_channels_ / o.groups);
  kernel.push_back(out_channels);
  Shape bias(axes + (options_.channel_first ? 2 : 1), 1);
  (options_.channel_first ? bias[1] : bias.back()) = out_channels;
  mask_                                            = options_.w_mask.of(kernel, layer_.c_str());
  weight = state("weight", ParamState(weight_and_bias(kernel, o.w_init, bias, o.b_init)));
  if (in_size.rank() > 1) {
    in_size_  = in_size.dims();
    out_size_ = output_shape(*in_size_);
    field("in_size", in_size.text());
    field("out_size", Size(*out_size_).text());
  }
  field("in_channels", std::to_string(in_channels_));
  field("out_channels", std::to_string(out_channels));
  field("kernel_size", Size(Ints(kernel.begin(), kernel.end() - 2)).text());
  field("stride", Size(options_.stride).text());
  field("padding", options_.padding.text());
}

Shape ConvNd::output_shape(const Shape& in) const {
  const size_t first = options_.channel_first ? 1 : 0;
  const Shape  k     = weight.leaf("weight").shape();
  Ints         sizes, extents;
  for (size_t i = 0; i < axes_; ++i) {
    sizes.push_back((in[first + i] - 1) * options_.lhs_dilation[i] + 1);
    extents.push_back((k[i] - 1) * options_.rhs_dilation[i] + 1);
  }
  const Padding p   = resolved(padding_, sizes, extents, options_.stride, layer_.c_str());
  Shape         out = in;
  for (size_t i = 0; i < axes_; ++i) {
    out[first + i] = (sizes[i] + p.lo[i] + p.hi[i] - extents[i]) / options_.stride[i] + 1;
    require(out[first + i] > 0,
            "{}: an input of size {} is smaller than the kernel; use padding "
            "SAME or a smaller one.",
            layer_, in[first + i]);
  }
  (options_.channel_first ? out.front() : out.back()) = out_channels_;
  return out;
}

Tensor ConvNd::update(const Tensor& x) {
  const int sample = static_cast<int>(axes_) + 1;
  require(x.rank() == sample || x.rank() == sample + 1, "{}: x needs {} axes, or {} with a batch, got {}.", layer_,
          sample, sample + 1, to_string(x.type()));
  const Shape in(x.shape().end() - sample, x.shape().end());
  require(!in_size_ || in == *in_size_, "{}: in_size is {}, got x of type {}.", layer_,
          to_string(in_size_.value_or(in)), to_string(x.type()));
  const int64_t channels = options_.channel_first ? in.front() : in.back();
  require(channels == in_channels_, "{}: expected {} channels on the {} axis, got x of type {}.", layer_, in_channels_,
          options_.channel_first ? "first" : "last", to_string(x.type()));
  Tensor kernel = weight.leaf("weight"), bias = leaf_or_none(weight, "bias");
  if (mask_.defined()) kernel = kernel * constant_like(mask_, kernel);
  if (bias.defined()) bias = reshape(bias, {-1});
  return conv(x, kernel, bias,
              {.stride       = options_.stride,
               .padding      = padding_,
               .lhs_dilation = options_.lhs_dilation,
               .rhs_dilation = options_.rhs_dilation,
               .groups       = options_.groups,
               .layout       = layout(axes_, options_.channel_first)});
}

}  // namespace braintrace::nn
