// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/compiler/graph.h"

namespace braintrace {

// Runs the program of `info` on arguments, old states (empty: their current values) and additional arguments.
StepValues run_step(const ModuleInfo& info, const Tensors& args, const Tensors& old_state_vals,
                    const Tensors& further = {});

}  // namespace braintrace
