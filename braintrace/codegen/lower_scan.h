// SPDX-License-Identifier: Apache-2.0
// Loop-invariant code motion for time loops: replaces a scan by an equivalent one with less work per step.
//
//   for t: y_t = tanh(x_t W + h U), h = y_t             a = x W (all steps, one product)
//                                                  →    for t: y_t = tanh(a_t + h U), h = y_t
//
// In this order:
//
//   dead carries     values that no used result needs are neither carried nor stacked
//   operands         views and cheap functions of operands are sunk into the body; equal operands are merged, and
//                    constant carries are replaced by their value
//   readouts         products that only stacked results need become one product after the loop
//   invariants       loop-invariant values are hoisted
//   input products   x_t W, which does not depend on a carry, becomes one large product over all steps before the loop;
//                    [x;h] W is split into x W_x + h W_h for this purpose
//   weights          are transposed once to the layout that products read
//   sums over steps  a carry that only accumulates products, g ← g + x_tᵀ δ_t, becomes one product over steps and batch
//                    after the loop
#pragma once

#include "braintrace/codegen/passes.h"
#include "braintrace/ir/op.h"

namespace braintrace::codegen {

// The results of the scan `e` on the operands `in`, appended to their trace; undefined where not `used`.
Tensors lowered_scan(const Eqn& e, const Tensors& in, const Mask& used, const Options& options);

}  // namespace braintrace::codegen
