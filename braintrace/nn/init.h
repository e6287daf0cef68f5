// SPDX-License-Identifier: Apache-2.0
// Initial values of parameters and states.
#pragma once

#include "braintrace/ops/move.h"

namespace braintrace::nn {

// N(0, 2/n_in): keeps the variance of activations through rectifying layers (He et al. 2015).
Tensor kaiming_normal(Shape shape);

}  // namespace braintrace::nn
