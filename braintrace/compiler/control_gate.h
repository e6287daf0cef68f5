// SPDX-License-Identifier: Apache-2.0
// Decides what to do with control flow that the canonicalizer left in the step.
#pragma once

#include "braintrace/compiler/graph.h"

namespace braintrace {

// Records regions without weights that compute hidden states; throws CompileError, with all records so far, for regions
// that online learning cannot handle: a trainable operation inside, or a weight that reaches a hidden state through the
// region.
void check_control_flow(const ModuleInfo& info, Diagnostics& log);

}  // namespace braintrace
