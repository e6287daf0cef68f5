// SPDX-License-Identifier: Apache-2.0
// Convolutions as matrix products: each position reads a patch of x, and a patch times the kernel is a row of the
// result.
//
//   y[n,p,o] = Σ_{k,c} x[n, p·stride + k·dilation, c] w[k,c,o]      becomes      dot_general(patches(x), w)
//
// Patches are a view of x, which the product copies block by block, so that they never lie in memory as a whole.
#pragma once

#include "braintrace/ir/op.h"

namespace braintrace::codegen {

// y[…,p…,k…,c] = x[…, p·stride + k·rhs_dilation, c], a view: `window` are the sizes of k, the last axes but one of x
// those of space.
extern const Op patches_op;

// The convolution of x and w (ops/conv.h) as a product; undefined where it stays one.
Tensor as_patch_product(const Tensor& x, const Tensor& w, const Attrs& conv);

// transpose(t, perm) as one look at what t looks at, where t is a transpose itself.
Tensor turned(const Tensor& t, const Ints& perm);

}  // namespace braintrace::codegen
