// SPDX-License-Identifier: Apache-2.0
// Blocks per position, D : [*varshape,W,W], and their products over a window.
#pragma once

#include "braintrace/ir/tensor.h"

namespace braintrace {

Tensor times(const Tensor& A, const Tensor& B);            // A B
Tensor applied(const Tensor& D, const Tensor& v);          // D v,   v : [*varshape,W]
Tensor transposed(const Tensor& D, const Tensor& lambda);  // Dᵀ λ,  λ : [*varshape,W]

// What is left at the end of a window of what was there at its start, and of what entered with each of its last steps.
struct Remains {
  Tensor of_start;  // [*varshape,W,W]; undefined when nothing is
  Tensor of_steps;  // [n,*varshape,W,W]; nothing is left of steps before the last n
};
// With D_1 … D_K, and for a filter ē_t = κ ē_{t-1} + e_t on top:
//
//   P_{t→K} = D_K … D_{t+1}                       e_K = P_{0→K} e_0 + Σ_t P_{t→K} v_t
//   R_t     = Σ_{s>t} κ^{K-s} P_{t→s}             ē_K = κ^K ē_0 + R_0 e_0 + Σ_t (R_t + κ^{K-t}) v_t
struct WindowProducts {
  Remains plain, filtered;
};
// D : [K,*varshape,W,W], undefined when zero; `block` is the type of one step's.
WindowProducts window_products(const Tensor& D, int64_t K, const Type& block, double kappa);

}  // namespace braintrace
