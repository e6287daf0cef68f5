// SPDX-License-Identifier: Apache-2.0
// Loop-invariant code motion for loops over time. A scan is replaced by an equal one that does less in each step:
//
//   for t: y_t = tanh(x_t W + h U), h = y_t             a = x W (all steps, one product)
//                                                  →    for t: y_t = tanh(a_t + h U), h = y_t
//
// In this order:
//
//   dead carries     what no used result needs is neither carried nor stacked
//   operands         views and cheap functions of operands move inside; equal operands, and carries that keep one
//                    number, become one value
//   readouts         products that only stacked results need, of what is stacked anyway: one product after the loop
//   invariants       what depends on no step is computed once, before the loop
//   inputs' products x_t W, which no carry reaches, is one large product of all steps before the loop; [x;h] W is split
//                    into x W_x + h W_h for this
//   weights          they are laid out once as the products inside read them; products of one value are joined where
//                    many cores share their columns
//   sums over steps  a carry that only gathers products of each step's values, g ← g + x_tᵀ δ_t, becomes one product
//                    over steps and batch, after the loop
#pragma once

#include "braintrace/codegen/target.h"
#include "braintrace/ir/op.h"

namespace braintrace::codegen {

// Results of the scan `e` on the operands `in`, appended to their trace; undefined where not `used`.
Tensors lowered_scan(const Eqn& e, const Tensors& in, const Mask& used, const Target& target);

}  // namespace braintrace::codegen
