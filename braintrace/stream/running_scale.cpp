// SPDX-License-Identifier: Apache-2.0
#include "braintrace/stream/running_scale.h"

#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace::stream {

RunningScale::RunningScale(const Type& input, const Scaling& how)
    : horizon_(how.horizon),
      count_(zeros({}, DType::F32)),
      mean_(zeros(input.shape, DType::F32)),
      variance_(zeros(input.shape, DType::F32)) {
  require(!active() || !how.shift.defined() || how.horizon == 0,
          "scaling: fixed numbers and a horizon exclude each other.");
  if (how.shift.defined()) {
    require(how.shift.size() == input.size() && how.scale.size() == input.size(),
            "scaling: the model takes {} numbers, there are {} to scale them by.", input.size(), how.shift.size());
    shift_ = convert(reshape(how.shift, input.shape), input.dtype);
    scale_ = convert(reshape(how.scale, input.shape), input.dtype);
  }
  for (const auto& [path, state] : states()) state.cell()->places = {{{}, "scale of inputs: " + path.str()}};
}

Tensor RunningScale::operator()(const Tensor& x) const {
  if (shift_.defined()) return (x - shift_) / scale_;
  if (horizon_ == 0) return x;
  const Tensor n = count_.value() + 1.0, a = maximum(1.0 / n, 1.0 / static_cast<double>(horizon_));
  const Tensor wide = convert(x, DType::F32), d = wide - mean_.value(), mean = mean_.value() + a * d;
  const Tensor v = variance_.value() + a * (d * (wide - mean) - variance_.value());
  count_.set(minimum(n, 1e6));
  mean_.set(mean);
  variance_.set(v);
  return convert((wide - mean) / sqrt(v + 1e-6), x.dtype());
}

StateMap RunningScale::states() const {
  if (horizon_ == 0) return {};
  return {{Path::dotted("count"), count_}, {Path::dotted("mean"), mean_}, {Path::dotted("variance"), variance_}};
}

}  // namespace braintrace::stream
