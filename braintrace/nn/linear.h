// SPDX-License-Identifier: Apache-2.0
// Layers around one trainable product. Axes before the features are folded into one batch axis.
#pragma once

#include "braintrace/nn/layer.h"

namespace braintrace::nn {

struct LinearOptions {
  Initializer  w_init = init::kaiming_normal();
  OptionalInit b_init = 0;
  Tensor       w_mask = {};  // W ∘ mask is used; entries where it is zero get no gradient
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
  Initializer w_init = init::kaiming_normal();
  Tensor      w_sign = {};  // +1 or -1, a scalar or [I,O]
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
  Tensor       w_mask  = {};
  bool         ws_gain = true;
  double       eps     = 1e-4;
};

// y = (x Ŵ) g + b     Ŵ = (W - mean) / √max(I var, ε), mean and variance over the inputs of each output.
// Gain and bias act outside the trainable product.
class ScaledWSLinear : public Module {
 public:
  ScaledWSLinear(const Size& in_size, const Size& out_size, ScaledWSLinearOptions options = {});
  Tensor update(const Tensor& x) override;

  ParamState weight;  // leaves weight [I,O], bias [O], gain [1,O]

 private:
  Tensor mask_;
  double eps_;
};

// Shared by layers with a mask: throws UserError unless it broadcasts to the weight.
Tensor checked_mask(const Tensor& mask, const Shape& weight, const char* layer);

}  // namespace braintrace::nn
