// SPDX-License-Identifier: Apache-2.0
// Small models defined inline: parameters, states and parts are registered by name, and one step is a function.
#pragma once

#include "braintrace/nn/linear.h"
#include "braintrace/zoo/registry.h"

namespace braintrace::zoo {

class Cell : public Module {
 public:
  std::function<Tensor(const Tensor&)> step;

  ParamState param(const std::string& name, const Shape& shape, double value) {
    return state(name, ParamState(nn::Initializer(value)(shape)));
  }
  // A random weight; its first axis is the input.
  ParamState param(const std::string& name, const Shape& shape) {
    const nn::Initializer init = shape.size() < 2 ? nn::init::normal(0, 0.5) : nn::init::xavier_normal();
    return state(name, ParamState(init(shape)));
  }
  HiddenState hidden(const std::string& name, const Shape& size) { return state(name, nn::hidden_state(size)); }
  nn::Linear  linear(const std::string& name, int64_t n_in, int64_t n_out, bool bias = true) {
     return part(name, nn::Linear(n_in, n_out, bias));
  }
  template <class M>
  M part(const std::string& name, M module) {
    children({{name, module}});
    return module;
  }
  ModulePtr part(const std::string& name, ModulePtr module) {
    children({{name, *module}});
    return module;
  }
  template <class S>
  S keep(const std::string& name, S s) {
    return state(name, std::move(s));
  }

  Tensor update(const Tensor& x) override { return step(x); }
};
inline std::shared_ptr<Cell> make_cell() { return std::make_shared<Cell>(); }

}  // namespace braintrace::zoo
