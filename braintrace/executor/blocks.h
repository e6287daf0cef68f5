// SPDX-License-Identifier: Apache-2.0
// Jacobian blocks, one per position, D : [*varshape,W,W], and their products over a window.
#pragma once

#include "braintrace/ir/tensor.h"

namespace braintrace {

Tensor times(const Tensor& A, const Tensor& B);            // A B
Tensor applied(const Tensor& D, const Tensor& v);          // D v,   v : [*varshape,W]
Tensor transposed(const Tensor& D, const Tensor& lambda);  // Dᵀ λ,  λ : [*varshape,W]

// How the trace at the end of a window depends on the trace at its start and on the instantaneous terms of its last
// steps.
struct Remains {
  Tensor of_start;  // [*varshape,W,W]; undefined if zero
  Tensor of_steps;  // [n,*varshape,W,W]; zero for steps before the last n
};
// With D_1 … D_K and, for the filtered trace, ē_t = κ ē_{t-1} + e_t:
//
//   P_{t→K} = D_K … D_{t+1}                       e_K = P_{0→K} e_0 + Σ_t P_{t→K} v_t
//   R_t     = Σ_{s>t} κ^{K-s} P_{t→s}             ē_K = κ^K ē_0 + R_0 e_0 + Σ_t (R_t + κ^{K-t}) v_t
struct WindowProducts {
  Remains plain, filtered;
};
// D : [K,*varshape,W,W], undefined if zero. `block` is the type of one step's D.
WindowProducts window_products(const Tensor& D, int64_t K, const Type& block, double kappa);

}  // namespace braintrace
