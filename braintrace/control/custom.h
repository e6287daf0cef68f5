// SPDX-License-Identifier: Apache-2.0
// Functions with user-defined derivatives.
#pragma once

#include "braintrace/control/nested.h"

namespace braintrace {

extern const Op custom_jvp_op, custom_vjp_op, custom_linear_op;

// f with result tangents dy = rule(x, dx), in forward and reverse mode. For reverse mode dy must be linear in dx.
using JvpRule = std::function<Tensors(const Tensors& x, const Tensors& dx)>;
Function custom_jvp(const Function& f, const JvpRule& rule);

// f with cotangents bwd(residuals, ct), where fwd(x) returns the results of f and the residuals. bwd need not be linear
// in ct (it may clip, for example); forward mode then fails with an error, otherwise it uses the transpose of bwd.
using ForwardPass  = WithResiduals<Tensors>;
using ForwardRule  = std::function<ForwardPass(const Tensors& x)>;
using BackwardRule = std::function<Tensors(const Tensors& residuals, const Tensors& ct)>;
Function custom_vjp(const Function& f, const ForwardRule& fwd, const BackwardRule& bwd);

const std::vector<const Op*>& custom_ops();

}  // namespace braintrace
