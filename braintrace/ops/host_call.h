// SPDX-License-Identifier: Apache-2.0
// Functions of the host inside programs: whatever C++, or a language bound to it, can compute from arrays.
//
//   const Tensors y = host_call([](const Arrays& in) -> Arrays { return {looked_up(in[0])}; }, {x}, {{DType::F32,
//   {10}}});
#pragma once

#include <functional>

#include "braintrace/ir/op.h"

namespace braintrace {

extern const Op host_call_op;

// Equal arrays give equal results, of the types that were announced. How often it is called, in which order and in
// which thread is not said.
using HostFunction = std::function<Arrays(const Arrays&)>;

// f on the values of `in` whenever the program runs; under vmap once for each sample. It has no derivative: take
// stop_gradient of what it is given. A program lives as long as the process that made it: its text cannot hold f.
Tensors host_call(HostFunction f, const Tensors& in, const Types& out);

const std::vector<const Op*>& host_ops();

}  // namespace braintrace
