// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/etp/operands.h"

namespace braintrace {

extern const Op element_wise_op;

struct ElementWiseOptions {
  WeightFn weight_fn = {};
  WeightFn fn        = {};  // short name of weight_fn; set only one of them
};

// y = w, trainable: a parameter with one value per position of a hidden state (gate bias, threshold, time constant).
// Along axes of the state that w lacks (batch), or that have size one in w, positions share its values.
Tensor element_wise(const Tensor& weight, const ElementWiseOptions& options = {});

}  // namespace braintrace
