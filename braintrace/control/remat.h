// SPDX-License-Identifier: Apache-2.0
// Recomputation instead of storage.
#pragma once

#include "braintrace/control/nested.h"

namespace braintrace {

extern const Op remat_op;

// f, but reverse mode keeps only its inputs and recomputes the rest in the backward pass.
Function remat(const Function& f);

const std::vector<const Op*>& remat_ops();

}  // namespace braintrace
