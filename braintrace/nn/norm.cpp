// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/norm.h"

#include <functional>

#include "braintrace/model/environment.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace::nn {

namespace {

// (x - μ)/√(σ² + ε), with the mean that `mean_of` takes.
Tensor normalized(const Tensor& x, const std::function<Tensor(const Tensor&)>& mean_of, double eps, bool fast) {
  const Tensor mu       = mean_of(x);
  const Tensor variance = fast ? maximum(mean_of(square(x)) - square(mu), 0) : mean_of(square(x - mu));
  return (x - mu) * rsqrt(variance + eps);
}
Tensor mean_of_row(const Tensor& x) { return mean(x, -1, true); }

std::optional<ParamState> scale_and_bias(const Shape& shape, bool scale, bool bias) {
  Leaves leaves;
  if (scale) leaves["scale"] = Initializer(1)(shape);
  if (bias) leaves["bias"] = Initializer(0)(shape);
  return leaves.empty() ? std::nullopt : std::optional(ParamState(std::move(leaves)));
}

Tensor affine(Tensor y, const std::optional<ParamState>& weight) {
  if (!weight) return y;
  if (const Tensor s = leaf_or_none(*weight, "scale"); s.defined()) y = y * s;
  if (const Tensor b = leaf_or_none(*weight, "bias"); b.defined()) y = y + b;
  return y;
}

void require_features(const char* layer, const Tensor& x, int64_t features) {
  require(x.rank() >= 1 && x.shape().back() == features, ErrorKind::Shape,
          "{}: the last axis of x must have size {}, got {}.", layer, features, to_string(x.type()));
}

}  // namespace

BatchNorm::BatchNorm(size_t spatial_axes, int64_t channels, BatchNormOptions options)
    : running_mean(state("running_mean", LongTermState(Initializer(0)({channels})))),
      running_var(state("running_var", LongTermState(Initializer(1)({channels})))),
      axes_(spatial_axes),
      options_(options) {
  require(channels > 0, "BatchNorm: the number of channels must be positive, got {}.", channels);
  Shape shape(spatial_axes + 2, 1);
  shape.back() = channels;
  if (options.affine) weight = state("weight", *scale_and_bias(shape, true, true));
  field("num_features", std::to_string(channels));
}

Tensor BatchNorm::update(const Tensor& x) {
  const int64_t channels = running_mean.value().size();
  require_features("BatchNorm", x, channels);
  if (axes_ == 1 && x.rank() == 2) return squeeze(update(expand_dims(x, 1)), {1});  // [B,C] is [B,1,C]
  require(x.rank() == static_cast<int>(axes_) + 2,
          "BatchNorm{}d: x needs a batch axis, {} spatial axes and channels; got {}.", axes_, axes_,
          to_string(x.type()));
  Ints over;
  for (int i = 0; i + 1 < x.rank(); ++i) over.push_back(i);
  Tensor mu = running_mean.value(), v = running_var.value();
  if (Environment::training()) {
    const Tensor batch_mu = mean(x, over), batch_v = maximum(mean(square(x), over) - square(batch_mu), 0);
    running_mean.set(options_.momentum * mu + (1 - options_.momentum) * stop_gradient(convert(batch_mu, mu.dtype())));
    running_var.set(options_.momentum * v + (1 - options_.momentum) * stop_gradient(convert(batch_v, v.dtype())));
    mu = batch_mu;
    v  = batch_v;
  }
  return affine((x - mu) * rsqrt(v + options_.eps), weight);
}

LayerNorm::LayerNorm(int64_t features, LayerNormOptions options) : options_(options), features_(features) {
  require(features > 0, "LayerNorm: the number of features must be positive, got {}.", features);
  weight = scale_and_bias({features}, options.use_scale, options.use_bias);
  if (weight) state("weight", *weight);
  field("num_features", std::to_string(features));
}
Tensor LayerNorm::update(const Tensor& x) {
  require_features("LayerNorm", x, features_);
  return affine(normalized(x, mean_of_row, options_.eps, options_.use_fast_variance), weight);
}

RMSNorm::RMSNorm(int64_t features, double eps)
    : weight(state("weight", *scale_and_bias({features}, true, false))), eps_(eps) {
  require(features > 0, "RMSNorm: the number of features must be positive, got {}.", features);
  field("num_features", std::to_string(features));
}
Tensor RMSNorm::update(const Tensor& x) {
  require_features("RMSNorm", x, weight.leaf("scale").size());
  return x * rsqrt(mean(square(x), -1, true) + eps_) * weight.leaf("scale");
}

GroupNorm::GroupNorm(int64_t features, int64_t num_groups, LayerNormOptions options)
    : options_(options), features_(features), groups_(num_groups) {
  require(num_groups > 0 && features > 0 && features % num_groups == 0,
          "GroupNorm: {} features cannot be divided into {} groups.", features, num_groups);
  weight = scale_and_bias({features}, options.use_scale, options.use_bias);
  if (weight) state("weight", *weight);
}
Tensor GroupNorm::update(const Tensor& x) {
  require_features("GroupNorm", x, features_);
  require(x.rank() >= 2, "GroupNorm: x needs a batch axis, got {}.", to_string(x.type()));
  Ints spatial;
  for (int i = 1; i + 1 < x.rank(); ++i) spatial.push_back(i);
  // By channel: arrays of all positions keep their shape, and only the reduced arrays are divided into groups.
  const auto mean_of_groups = [&](const Tensor& y) {
    const Tensor channels = spatial.empty() ? y : mean(y, spatial, true);
    Shape        split    = channels.shape();
    split.back()          = groups_;
    split.push_back(features_ / groups_);
    return reshape(broadcast_to(mean_of_row(reshape(channels, split)), split), channels.shape());
  };
  return affine(normalized(x, mean_of_groups, options_.eps, options_.use_fast_variance), weight);
}

Tensor standardize(const Tensor& x, double eps) { return normalized(x, mean_of_row, eps, true); }

}  // namespace braintrace::nn
