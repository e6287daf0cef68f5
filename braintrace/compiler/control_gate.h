// SPDX-License-Identifier: Apache-2.0
// Decides about control flow that the canonicalizer had to leave in the step.
#pragma once

#include "braintrace/compiler/graph.h"

namespace braintrace {

// Records weight-free regions that make hidden states; throws CompileError, with all records so far, for what cannot be
// learned through: a trainable operation inside, or a weight that reaches a hidden state through the region.
void check_control_flow(const ModuleInfo& info, Diagnostics& log);

}  // namespace braintrace
