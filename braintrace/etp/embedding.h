// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/etp/operands.h"

namespace braintrace {

extern const Op embedding_op;

struct EmbeddingOptions {
  WeightFn weight_fn = {};
};

// y = W[indices], trainable: rows of a table.   indices : integer, [] or [B]   W : [V,D]   y : [D] or [B,D]
// An index outside 0 … V-1 is an error when the program runs.
Tensor embedding(const Tensor& indices, const Tensor& weight, const EmbeddingOptions& options = {});

}  // namespace braintrace
