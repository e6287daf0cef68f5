// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/named_layers.h"

#include <map>

#include "braintrace/model/environment.h"
#include "braintrace/ops/activation.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/random.h"
#include "braintrace/ops/softmax.h"
#include "braintrace/ops/special.h"

namespace braintrace::nn {

namespace {

using T = const Tensor&;

Activation with(const char* name, double parameter, Activation::Function f) {
  return {fmt::format("{}({})", name, parameter), std::move(f)};
}

}  // namespace

Hardtanh::Hardtanh(double lo, double hi)
    : ActivationLayer({fmt::format("hard_tanh({}, {})", lo, hi), [=](T x) { return clamp(x, lo, hi); }}) {
  require(lo < hi, "Hardtanh: the bounds {} and {} leave nothing between them.", lo, hi);
}
ELU::ELU(double alpha) : ActivationLayer(with("elu", alpha, [=](T x) { return elu(x, alpha); })) {}
CELU::CELU(double alpha) : ActivationLayer(with("celu", alpha, [=](T x) { return celu(x, alpha); })) {
  require(alpha != 0, "CELU: alpha must not be zero.");
}
LeakyReLU::LeakyReLU(double slope)
    : ActivationLayer(with("leaky_relu", slope, [=](T x) { return leaky_relu(x, slope); })) {}
GELU::GELU(bool approximate) : ActivationLayer({"gelu", [=](T x) { return gelu(x, approximate); }}) {}
Hardshrink::Hardshrink(double lambda)
    : ActivationLayer(
          with("hard_shrink", lambda, [=](T x) { return select(greater(abs(x), lambda), x, zeros_like(x)); })) {}
Softshrink::Softshrink(double lambda)
    : ActivationLayer(with("soft_shrink", lambda, [=](T x) { return x - clamp(x, -lambda, lambda); })) {}
Softplus::Softplus(double beta)
    : ActivationLayer(with("softplus", beta, [=](T x) { return softplus(beta * x) / beta; })) {
  require(beta > 0, "Softplus: beta must be positive, got {}.", beta);
}
Softmax::Softmax(int axis) : ActivationLayer(with("softmax", axis, [=](T x) { return softmax(x, axis); })) {}
Softmin::Softmin(int axis) : ActivationLayer(with("softmin", axis, [=](T x) { return softmax(-x, axis); })) {}
LogSoftmax::LogSoftmax(int axis)
    : ActivationLayer(with("log_softmax", axis, [=](T x) { return log_softmax(x, axis); })) {}

RReLU::RReLU(double lo, double hi) : lo_(lo), hi_(hi) {
  require(lo <= hi, "RReLU: lo is {}, above hi, {}.", lo, hi);
  field("lower", fmt::format("{}", lo));
  field("upper", fmt::format("{}", hi));
}
Tensor RReLU::update(const Tensor& x) {
  const Tensor a = Environment::training() ? random::uniform(random::next(), x.shape(), lo_, hi_, x.dtype())
                                           : full(x.shape(), (lo_ + hi_) / 2, x.dtype());
  return maximum(x, 0) + a * minimum(x, 0);
}

SpikeBitwise::SpikeBitwise(const std::string& op) : op_(op) {
  static const std::map<std::string, std::function<Tensor(T, T)>> known = {
      {"add", [](T x, T y) { return x + y; }},
      {"and", [](T x, T y) { return x * y; }},
      {"iand", [](T x, T y) { return (1 - x) * y; }},
      {"ixor", [](T x, T y) { return x * (1 - y); }},
      {"not", [](T x, T) { return 1 - x; }},
      {"or", [](T x, T y) { return x + y - x * y; }},
      {"xor", [](T x, T y) { return x + y - 2 * x * y; }},
  };
  const auto it = known.find(op);
  require(it != known.end(), "SpikeBitwise: there is no '{}'; known: add, and, iand, ixor, not, or, xor.", op);
  combine_ = it->second;
  field("op", op);
}
Tensor SpikeBitwise::update(const Tensor& x) {
  require(op_ == "not", "SpikeBitwise: '{}' combines two populations; call it with both.", op_);
  return combine_(x, x);
}

}  // namespace braintrace::nn
