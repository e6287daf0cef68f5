// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/activation.h"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/ops/activation.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/softmax.h"
#include "braintrace/ops/special.h"

namespace braintrace::nn {

namespace {

using T = const Tensor&;

const std::map<std::string, Activation::Function>& table() {
  static const std::map<std::string, Activation::Function> t = {
      {"celu", [](T x) { return celu(x); }},
      {"elu", [](T x) { return elu(x); }},
      {"gelu", [](T x) { return gelu(x, true); }},
      {"hard_shrink", [](T x) { return select(greater(abs(x), 0.5), x, zeros_like(x)); }},
      {"hard_sigmoid", [](T x) { return hard_sigmoid(x); }},
      {"hard_swish", [](T x) { return hard_silu(x); }},
      {"hard_tanh", [](T x) { return hard_tanh(x); }},
      {"identity", [](T x) { return x; }},
      {"leaky_relu", [](T x) { return leaky_relu(x); }},
      {"log_sigmoid", [](T x) { return log_sigmoid(x); }},
      {"log_softmax", [](T x) { return log_softmax(x); }},
      {"mish", [](T x) { return x * tanh(softplus(x)); }},
      {"relu", [](T x) { return relu(x); }},
      {"relu6", [](T x) { return relu6(x); }},
      {"selu", [](T x) { return selu(x); }},
      {"sigmoid", [](T x) { return sigmoid(x); }},
      {"silu", [](T x) { return silu(x); }},
      {"softmax", [](T x) { return softmax(x); }},
      {"softmin", [](T x) { return softmax(-x); }},
      {"softplus", [](T x) { return softplus(x); }},
      {"soft_shrink", [](T x) { return x - clamp(x, -0.5, 0.5); }},
      {"softsign", [](T x) { return x / (1 + abs(x)); }},
      {"tanh", [](T x) { return tanh(x); }},
      {"tanh_shrink", [](T x) { return x - tanh(x); }},
  };
  return t;
}

}  // namespace

Activation::Activation(const std::string& name) : name_(name) {
  const auto it = table().find(name);
  if (it == table().end())
    fail(ErrorKind::Name, "activation: there is no '{}'; known: {}.\n  Any function of a tensor may be given instead.",
         name, fmt::join(activation_names(), ", "));
  f_ = it->second;
}

std::vector<std::string> activation_names() {
  std::vector<std::string> out;
  for (const auto& [name, f] : table()) out.push_back(name);
  return out;
}

}  // namespace braintrace::nn
