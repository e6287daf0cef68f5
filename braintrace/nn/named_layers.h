// SPDX-License-Identifier: Apache-2.0
// Generic layers under the names of other libraries: one class per activation, dropout and pooling for each number of
// spatial axes, and combinations of spikes. None has weights; defaults are the usual ones.
#pragma once

#include "braintrace/nn/generic.h"

namespace braintrace::nn {

struct ReLU : ActivationLayer {
  ReLU() : ActivationLayer("relu") {}
};
struct ReLU6 : ActivationLayer {
  ReLU6() : ActivationLayer("relu6") {}
};
struct Sigmoid : ActivationLayer {
  Sigmoid() : ActivationLayer("sigmoid") {}
};
struct Hardsigmoid : ActivationLayer {
  Hardsigmoid() : ActivationLayer("hard_sigmoid") {}
};
struct Tanh : ActivationLayer {
  Tanh() : ActivationLayer("tanh") {}
};
struct SiLU : ActivationLayer {
  SiLU() : ActivationLayer("silu") {}
};
struct Mish : ActivationLayer {
  Mish() : ActivationLayer("mish") {}
};
struct Hardswish : ActivationLayer {
  Hardswish() : ActivationLayer("hard_swish") {}
};
struct SELU : ActivationLayer {
  SELU() : ActivationLayer("selu") {}
};
struct LogSigmoid : ActivationLayer {
  LogSigmoid() : ActivationLayer("log_sigmoid") {}
};
struct Softsign : ActivationLayer {
  Softsign() : ActivationLayer("softsign") {}
};
struct Tanhshrink : ActivationLayer {
  Tanhshrink() : ActivationLayer("tanh_shrink") {}
};
struct Identity : ActivationLayer {
  Identity() : ActivationLayer("identity") {}
};

struct Hardtanh : ActivationLayer {  // min(max(x, lo), hi)
  explicit Hardtanh(double lo = -1, double hi = 1);
};
struct ELU : ActivationLayer {  // x where x > 0, else α (e^x - 1)
  explicit ELU(double alpha = 1);
};
struct CELU : ActivationLayer {  // x where x > 0, else α (e^{x/α} - 1)
  explicit CELU(double alpha = 1);
};
struct LeakyReLU : ActivationLayer {  // x where x > 0, else slope x
  explicit LeakyReLU(double slope = 0.01);
};
struct GELU : ActivationLayer {  // x Φ(x), or its tanh form
  explicit GELU(bool approximate = false);
};
struct Hardshrink : ActivationLayer {  // x where |x| > λ, else 0
  explicit Hardshrink(double lambda = 0.5);
};
struct Softshrink : ActivationLayer {  // x - min(max(x, -λ), λ)
  explicit Softshrink(double lambda = 0.5);
};
struct Softplus : ActivationLayer {  // log(1 + e^{βx})/β
  explicit Softplus(double beta = 1);
};
struct Softmax : ActivationLayer {
  explicit Softmax(int axis = -1);
};
struct Softmin : ActivationLayer {  // softmax(-x)
  explicit Softmin(int axis = -1);
};
struct LogSoftmax : ActivationLayer {
  explicit LogSoftmax(int axis = -1);
};
struct Softmax2d : Softmax {  // over the channels of (…, C, H, W)
  Softmax2d() : Softmax(-3) {}
};

// x where x > 0, else a x: in training, a is uniform in [lo, hi] for each element; otherwise it is the mean of lo and
// hi.
class RReLU : public Module {
 public:
  explicit RReLU(double lo = 1.0 / 8, double hi = 1.0 / 3);
  Tensor update(const Tensor& x) override;

 private:
  double lo_, hi_;
};

struct Dropout1d : Dropout {
  explicit Dropout1d(double keep = 0.5) : Dropout(keep, 1) {}
};
struct Dropout2d : Dropout {
  explicit Dropout2d(double keep = 0.5) : Dropout(keep, 2) {}
};
struct Dropout3d : Dropout {
  explicit Dropout3d(double keep = 0.5) : Dropout(keep, 3) {}
};

inline std::string pool_name(PoolKind kind, size_t axes) {
  return (kind == PoolKind::Max ? "MaxPool" : "AvgPool") + std::to_string(axes) + "d";
}
// D sizes, from as many or from one for all axes.
template <size_t D>
Ints per_axis(const Ints& sizes, const char* what) {
  require(sizes.size() == 1 || sizes.size() == D, "pooling: {} needs 1 or {} entries, got {}.", what, D,
          Size(sizes).text());
  return sizes.size() == D ? sizes : Ints(D, sizes[0]);
}
// Pooling over D spatial axes; the default stride is the kernel's size. One number holds for all axes.
template <PoolKind kind, size_t D>
struct PoolNd : Pool {
  static constexpr size_t axes = D;
  explicit PoolNd(const Size& kernel_size, const Ints& stride = {}, const Padding& padding = Padding::valid())
      : Pool(kind, {.window  = per_axis<D>(kernel_size.dims(), "kernel_size"),
                    .stride  = stride.empty() ? stride : per_axis<D>(stride, "stride"),
                    .padding = padding,
                    .layout  = {}}) {}
  std::string type_name() const override { return pool_name(kind, D); }
};
template <PoolKind kind, size_t D>
struct AdaptivePoolNd : AdaptivePool {
  explicit AdaptivePoolNd(const Size& out) : AdaptivePool(kind, per_axis<D>(out.dims(), "target_size")) {}
  std::string type_name() const override { return "Adaptive" + pool_name(kind, D); }
};

using MaxPool1d         = PoolNd<PoolKind::Max, 1>;
using MaxPool2d         = PoolNd<PoolKind::Max, 2>;
using MaxPool3d         = PoolNd<PoolKind::Max, 3>;
using AdaptiveMaxPool1d = AdaptivePoolNd<PoolKind::Max, 1>;
using AdaptiveMaxPool2d = AdaptivePoolNd<PoolKind::Max, 2>;
using AdaptiveMaxPool3d = AdaptivePoolNd<PoolKind::Max, 3>;
using AvgPool1d         = PoolNd<PoolKind::Mean, 1>;
using AvgPool2d         = PoolNd<PoolKind::Mean, 2>;
using AvgPool3d         = PoolNd<PoolKind::Mean, 3>;
using AdaptiveAvgPool1d = AdaptivePoolNd<PoolKind::Mean, 1>;
using AdaptiveAvgPool2d = AdaptivePoolNd<PoolKind::Mean, 2>;
using AdaptiveAvgPool3d = AdaptivePoolNd<PoolKind::Mean, 3>;

// Spikes of two populations combined as bits: add, or, and, xor, iand ((1-x) y), ixor (x (1-y)); not takes only x.
// Implemented with sums and products, so that surrogate gradients pass through.
class SpikeBitwise : public Module {
 public:
  explicit SpikeBitwise(const std::string& op = "add");  // throws a UserError that lists the known names
  Tensor operator()(const Tensor& x, const Tensor& y) const { return combine_(x, y); }
  Tensor update(const Tensor& x) override;  // "not"

 private:
  std::string                                             op_;
  std::function<Tensor(const Tensor& x, const Tensor& y)> combine_;
};

}  // namespace braintrace::nn
