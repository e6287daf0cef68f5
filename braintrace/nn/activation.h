// SPDX-License-Identifier: Apache-2.0
// Activations by name or as a function: `Activation("tanh")`, `Activation([](const Tensor& x) { return x * x; })`.
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <vector>

#include "braintrace/ir/tensor.h"

namespace braintrace::nn {

class Activation {
 public:
  using Function = std::function<Tensor(const Tensor&)>;

  Activation(const std::string& name);  // throws a UserError that lists the known names
  Activation(const char* name) : Activation(std::string(name)) {}
  Activation(std::string name, Function f) : name_(std::move(name)), f_(std::move(f)) {}
  template <class F>
  requires std::invocable<F&, const Tensor&> Activation(F f) : Activation("custom", Function(std::move(f))) {}

  Tensor             operator()(const Tensor& x) const { return f_(x); }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  Function    f_;
};

std::vector<std::string> activation_names();

}  // namespace braintrace::nn
