// SPDX-License-Identifier: Apache-2.0
// Forward mode: values and tangents pushed through a program together.
#pragma once

#include "braintrace/ir/builder.h"
#include "braintrace/ir/op.h"

namespace braintrace {

// Values, then the tangents of those that have one: the operands of programs that propagate both.
template <class List>
struct Dual {
  List values, tangents;
};

// Inputs are constants, then arguments; tangents of inputs may be undefined (zero).
Pushed jvp(const Program& program, const Tensors& in, const Tensors& tangents);

// Tangents of one equation's results.
Tensors jvp_equation(const Op& op, const Attrs& attrs, const Tensors& in, const Tensors& tangents, const Tensors& out);

// Results and result tangents of one equation.
using PushRule = Pushed (*)(const Op& op, const Attrs& attrs, const Tensors& in, const Tensors& tangents);
Pushed push_equation(const Op& op, const Attrs& attrs, const Tensors& in, const Tensors& tangents);
// The same for a program, equation by equation.
Pushed push_program(const Program& program, const Tensors& in, const Tensors& tangents, PushRule push);

// (args, tangents of the chosen args) → (results, result tangents). Constants become leading arguments.
Program jvp_program(const Program& program, const Mask& active);

}  // namespace braintrace
