// SPDX-License-Identifier: Apache-2.0
// Reverse mode in two steps.
//
//   linearize runs the program and returns the linear map J : tangents → result tangents as a program.
//               The values of the forward pass that J needs are its constants: the residuals.
//   transpose   runs Jᵀ on cotangents.
//
// No partial evaluation is needed: the linear map is traced in a builder that is opened inside the forward pass, and an
// operation is added to the innermost trace among its operands, so coefficients stay outside and only tangents enter.
#pragma once

#include "braintrace/ir/builder.h"
#include "braintrace/ir/op.h"

namespace braintrace {

struct LinearMap {
  Tensors out;   // results of the forward pass
  Traced  map;   // arguments: tangents of the active inputs; results: tangents of `live` results
  Mask    live;  // results whose tangent is not structurally zero
};

// Inputs are constants, then arguments.
LinearMap linearize(const Program& program, const Tensors& in, const Mask& active);

// Cotangents of the arguments of a program that is linear in them; undefined where zero. The program may also compute
// with its constants. Throws UserError if it is not linear.
Tensors transpose(const Program& linear, const Tensors& constants, const Tensors& ct);

// The same for the arguments marked in `linear_args`; the others are given (undefined for the marked ones).
Tensors transpose(const Program& program, const Tensors& constants, const Tensors& args, const Mask& linear_args,
                  const Tensors& ct);

struct VjpResult {
  Tensors out;
  std::function<Tensors(const Tensors&)>
      pullback;  // result cotangents → cotangents of the active inputs (undefined = zero)
};
VjpResult vjp(const Program& program, const Tensors& in, const Mask& active);

// (inputs, result cotangents) → (results, cotangents of the active inputs). Constants become leading arguments.
Program vjp_program(const Program& program, const Mask& active);

}  // namespace braintrace
