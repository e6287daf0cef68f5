// SPDX-License-Identifier: Apache-2.0
// Implicit im2col: convolutions as matrix products. Each output position reads a patch of x, and a patch times the
// kernel is a row of the result.
//
//   y[n,p,o] = Σ_{k,c} x[n, p·stride + k·dilation, c] w[k,c,o]      →      dot_general(patches(x), w)
//
// Patches are a view of x. The product packs them block by block, so they are never materialized as a whole.
#pragma once

#include "braintrace/ir/op.h"

namespace braintrace::codegen {

// y[…,p…,k…,c] = x[…, p·stride + k·rhs_dilation, c], a view. `window` has the sizes of k; the spatial axes are the last
// ones of x before the channels.
extern const Op patches_op;

// The convolution of x and w (ops/conv.h) as a product; undefined if it should stay a convolution.
Tensor as_patch_product(const Tensor& x, const Tensor& w, const Attrs& conv);

// transpose(t, perm); if t is itself a transpose, the two are combined.
Tensor turned(const Tensor& t, const Ints& perm);

}  // namespace braintrace::codegen
