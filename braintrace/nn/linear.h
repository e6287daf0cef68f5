// SPDX-License-Identifier: Apache-2.0
// Layers with one trainable product. Axes before the features are folded into one batch axis.
#pragma once

#include "braintrace/nn/layer.h"

namespace braintrace::nn {

// A fixed elementwise factor of a weight: none, an array that broadcasts to the weight, or a function of the weight's
// shape, such as an initializer.
class WeightFactor {
 public:
  WeightFactor() = default;
  WeightFactor(Tensor value) : value_(std::move(value)) {}
  template <std::invocable<const Shape&> Make>
  WeightFactor(Make make) : make_(std::move(make)) {}

  // For a weight of this shape; undefined for none. Throws UserError unless it broadcasts to the weight.
  Tensor of(const Shape& weight, const char* layer) const;

 private:
  Tensor                              value_;
  std::function<Tensor(const Shape&)> make_;
};

struct LinearOptions {
  Initializer  w_init = init::kaiming_normal();
  OptionalInit b_init = 0;
  WeightFactor w_mask = {};  // uses W ∘ mask; entries where the mask is zero get no gradient
};

// y = x W + b         W : [I,O], b : [O], both leaves of the parameter "weight"
class Linear : public Module {
 public:
  Linear(const Size& in_size, const Size& out_size, LinearOptions options = {});
  Linear(const Size& in_size, const Size& out_size, bool bias);
  Tensor update(const Tensor& x) override;

  ParamState weight;

 private:
  Tensor mask_;
};

// y = x W + b         as a plain product: W ("w") and b ("b") get the same-step gradient only
class PlainLinear : public Module {
 public:
  PlainLinear(int64_t n_in, int64_t n_out, LinearOptions options = {});
  Tensor update(const Tensor& x) override;

  ParamState                w;
  std::optional<ParamState> b;
};

struct SignedWLinearOptions {
  Initializer  w_init = init::kaiming_normal();
  WeightFactor w_sign = {};  // +1 or -1, a scalar or [I,O]
};

// y = x (|W| ∘ sign)        one array "weight"; every weight keeps its sign (Dale's law). Without sign: |W|.
class SignedWLinear : public Module {
 public:
  SignedWLinear(const Size& in_size, const Size& out_size, SignedWLinearOptions options = {});
  Tensor update(const Tensor& x) override;

  ParamState weight;

 private:
  Tensor sign_;
};

struct ScaledWSLinearOptions {
  Initializer  w_init  = init::kaiming_normal();
  OptionalInit b_init  = 0;
  WeightFactor w_mask  = {};
  bool         ws_gain = true;
  double       eps     = 1e-4;
};

// y = (x Ŵ) g + b Ŵ = (W - mean) / √max(I var, ε), mean and variance over the inputs of each output. Gain and bias are
// applied outside the trainable product.
class ScaledWSLinear : public Module {
 public:
  ScaledWSLinear(const Size& in_size, const Size& out_size, ScaledWSLinearOptions options = {});
  Tensor update(const Tensor& x) override;

  ParamState weight;  // leaves weight [I,O], bias [O], gain [1,O]

 private:
  Tensor mask_;
  double eps_;
};

}  // namespace braintrace::nn
