// SPDX-License-Identifier: Apache-2.0
// Loop-invariant code motion for loops over time. A scan is replaced by an equal one that does less in each step:
//
//   for t: y_t = tanh(x_t W + h U), h = y_t             a = x W (all steps, one product)
//                                                  →    for t: y_t = tanh(a_t + h U), h = y_t
//
//   dead carries     what no used result needs is neither carried nor stacked
//   invariants       what depends on no step is computed once, before
//   inputs' products x_t W, which no carry reaches, for all steps at once before: one large product.
//                    [x;h] W is first parted into x W_x + h W_h
//   readouts         products that only stacked results need, of what is stacked anyway: one product after
//   sums over steps  a carry that only gathers products of each step's values, g ← g + x_tᵀ δ_t, becomes one product
//                    over steps and batch, after
#pragma once

#include "braintrace/codegen/target.h"
#include "braintrace/ir/op.h"

namespace braintrace::codegen {

// Results of the scan `e` on the operands `in`, appended to their trace; undefined where not `used`.
Tensors lowered_scan(const Eqn& e, const Tensors& in, const Mask& used, const Target& target);

}  // namespace braintrace::codegen
