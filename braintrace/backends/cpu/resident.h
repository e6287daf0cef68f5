// SPDX-License-Identifier: Apache-2.0
// Implements ResidentProgram with a Stepper: allocates arrays for the results that are not fed.
#pragma once

#include "braintrace/runtime/backend.h"

namespace braintrace::cpu {

// Results that are always zero are allocated once, and zero pages cost nothing.
std::unique_ptr<ResidentProgram> make_resident(const Program& program, const Arrays& constants,
                                               const std::vector<Feed>& feeds);

}  // namespace braintrace::cpu
