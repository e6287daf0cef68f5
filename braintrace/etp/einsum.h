// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "braintrace/etp/operands.h"

namespace braintrace {

extern const Op einsum_op;

struct EinsumOptions {
  WeightFn weight_fn = {};
};

// A trainable product of x and a weight with named axes: "xs,ws->ys", such as "btk,kn->btn". The first letter of xs and
// ys is the batch axis; axes of the result that the weight lacks (t) get their own trace axis.
Tensor einsum(const std::string& equation, const Tensor& x, const Tensor& weight, const EinsumOptions& options = {});

}  // namespace braintrace
