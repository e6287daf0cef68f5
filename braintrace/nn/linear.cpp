// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/linear.h"

#include <algorithm>
#include <cmath>

#include "braintrace/etp/dense.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace::nn {

namespace {

Shape weight_shape(const char* layer, const Size& in, const Size& out) {
  in.checked(layer, "in_size");
  out.checked(layer, "out_size");
  require(in.rank() == out.rank() && std::equal(in.dims().begin(), in.dims().end() - 1, out.dims().begin()),
          "{}: in_size {} and out_size {} may differ in their last entry only.", layer, in.text(), out.text());
  return {in.last(), out.last()};
}

Tensor checked_input(const Tensor& x, int64_t n_in, const char* layer) {
  require(x.rank() >= 1 && x.shape().back() == n_in, ErrorKind::Shape,
          "{}: the last axis of x must have size {}, got {}.", layer, n_in, to_string(x.type()));
  return x;
}

// f(W) as a chain of plain operations before the product: the compiler pulls gradients back through it.
Tensor product(const Tensor& x, const Tensor& W, const Tensor& bias, const char* layer) {
  checked_input(x, W.shape()[0], layer);
  return fold_batch(x, 1, [&](const Tensor& v) { return matmul(v, W, bias); });
}

}  // namespace

Tensor WeightFactor::of(const Shape& weight, const char* layer) const {
  const Tensor mask = make_ ? make_(weight) : value_;
  if (!mask.defined()) return mask;
  bool fits = mask.rank() <= static_cast<int>(weight.size());
  for (size_t i = 0; fits && i < mask.shape().size(); ++i) {
    const int64_t m = mask.shape()[mask.shape().size() - 1 - i];
    fits            = m == 1 || m == weight[weight.size() - 1 - i];
  }
  require(fits, "{}: a mask of shape {} does not fit a weight of shape {}.", layer, to_string(mask.shape()),
          to_string(weight));
  return mask;
}

Linear::Linear(const Size& in_size, const Size& out_size, LinearOptions o)
    : weight(state("weight", ParamState(weight_and_bias(weight_shape("Linear", in_size, out_size), o.w_init,
                                                        {out_size.last()}, o.b_init)))),
      mask_(o.w_mask.of(weight.leaf("weight").shape(), "Linear")) {
  field("in_size", in_size.text());
  field("out_size", out_size.text());
  field("w_mask", mask_.defined() ? to_string(mask_.type()) : "None");
}
Linear::Linear(const Size& in_size, const Size& out_size, bool bias)
    : Linear(in_size, out_size, LinearOptions{.b_init = bias ? OptionalInit(0) : no_bias}) {}

Tensor Linear::update(const Tensor& x) {
  Tensor W = weight.leaf("weight");
  if (mask_.defined()) W = W * constant_like(mask_, W);
  return product(x, W, leaf_or_none(weight, "bias"), "Linear");
}

PlainLinear::PlainLinear(int64_t n_in, int64_t n_out, LinearOptions o)
    : w(state("w", ParamState(o.w_init(weight_shape("PlainLinear", n_in, n_out))))) {
  if (o.b_init) b = state("b", ParamState((*o.b_init)({n_out})));
}

Tensor PlainLinear::update(const Tensor& x) {
  const Tensor y = dot(checked_input(x, w.value().shape()[0], "PlainLinear"), w.value());
  return b ? y + b->value() : y;
}

SignedWLinear::SignedWLinear(const Size& in_size, const Size& out_size, SignedWLinearOptions o)
    : weight(state("weight", ParamState(o.w_init(weight_shape("SignedWLinear", in_size, out_size))))),
      sign_(o.w_sign.of(weight.value().shape(), "SignedWLinear")) {
  field("in_size", in_size.text());
  field("out_size", out_size.text());
}

Tensor SignedWLinear::update(const Tensor& x) {
  Tensor W = abs(weight.value());
  if (sign_.defined()) W = W * constant_like(sign_, W);
  return product(x, W, {}, "SignedWLinear");
}

ScaledWSLinear::ScaledWSLinear(const Size& in_size, const Size& out_size, ScaledWSLinearOptions o)
    : weight(ParamState(
          weight_and_bias(weight_shape("ScaledWSLinear", in_size, out_size), o.w_init, {out_size.last()}, o.b_init))),
      mask_(o.w_mask.of(weight.leaf("weight").shape(), "ScaledWSLinear")),
      eps_(o.eps) {
  require(eps_ > 0, "ScaledWSLinear: eps must be positive, got {}.", eps_);
  if (o.ws_gain) {
    Leaves leaves  = weight.cell()->settled();
    leaves["gain"] = Initializer(1)({1, out_size.last()});
    weight         = ParamState(std::move(leaves));
  }
  state("weight", weight);
  field("in_size", in_size.text());
  field("out_size", out_size.text());
}

Tensor ScaledWSLinear::update(const Tensor& x) {
  const Tensor w     = weight.leaf("weight");
  const double n_in  = static_cast<double>(w.shape()[0]);
  const Tensor scale = rsqrt(maximum(n_in * var(w, 0, true), eps_));
  Tensor       W     = (w - mean(w, 0, true)) * scale;
  if (mask_.defined()) W = W * constant_like(mask_, W);
  Tensor y = product(x, W, {}, "ScaledWSLinear");
  if (const Tensor g = leaf_or_none(weight, "gain"); g.defined()) y = y * reshape(g, {-1});
  if (const Tensor b = leaf_or_none(weight, "bias"); b.defined()) y = y + b;
  return y;
}

}  // namespace braintrace::nn
