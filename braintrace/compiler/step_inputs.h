// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/ir/tensor.h"

namespace braintrace {

// The inputs of one step for the compiler: their types, or example values.
//
//   compile_etrace_graph(model, zeros({10}))      …(model, {x, y})      …(model, {Type{DType::F32, {10}}})
struct StepInputs {
  Types types;

  StepInputs(Types t) : types(std::move(t)) {}
  StepInputs(std::initializer_list<Type> list) : types(list) {}
  StepInputs(const Tensor& x) : types{x.type()} {}
  StepInputs(const Tensors& xs) : types(types_of(xs)) {}
  StepInputs(std::initializer_list<Tensor> xs) : types(types_of(Tensors(xs))) {}
};

}  // namespace braintrace
