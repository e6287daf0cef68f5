// SPDX-License-Identifier: Apache-2.0
// Host functions inside programs: any function of arrays in C++ or in a language with a binding.
//
//   const Tensors y = host_call([](const Arrays& in) -> Arrays { return {lookup(in[0])}; }, {x}, {{DType::F32, {10}}});
#pragma once

#include <functional>

#include "braintrace/ir/op.h"

namespace braintrace {

extern const Op host_call_op;

// Equal arrays must produce equal results of the declared types. Calls may have any number, order and thread.
using HostFunction = std::function<Arrays(const Arrays&)>;

// Calls f on the values of `in` whenever the program runs; under vmap, once per sample. It has no derivative: apply
// stop_gradient to its operands. Such a program cannot be stored as text, because f exists only in this process.
Tensors host_call(HostFunction f, const Tensors& in, const Types& out);

const std::vector<const Op*>& host_ops();

}  // namespace braintrace
