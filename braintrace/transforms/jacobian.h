// SPDX-License-Identifier: Apache-2.0
// Whole Jacobians  J[result index…, input index…] = ∂result / ∂input.
#pragma once

#include "braintrace/ir/builder.h"
#include "braintrace/ir/op.h"

namespace braintrace {

// All unit tensors of a type, stacked: e[k] is one at flat position k.
Tensor unit_tensors(const Type& type);

struct Jacobians {
  Tensors out;  // results of the run
  Tensors of;   // per result: shape of the result followed by the shape of the input; zeros where independent
};

// With respect to input number `input` (constants, then arguments). Forward: one pass over a batch of directions,
// cheaper for few inputs. Reverse: one pass per result over a batch of cotangents, cheaper for few outputs.
Jacobians jacfwd(const Program& program, const Tensors& in, size_t input);
Jacobians jacrev(const Program& program, const Tensors& in, size_t input);

// inputs → (results, Jacobians). Constants become leading arguments.
Program jacfwd_program(const Program& program, size_t input);
Program jacrev_program(const Program& program, size_t input);

}  // namespace braintrace
