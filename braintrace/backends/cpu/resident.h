// SPDX-License-Identifier: Apache-2.0
// A Stepper as the library above sees it: it makes arrays for the results that are not fed.
#pragma once

#include "braintrace/runtime/backend.h"

namespace braintrace::cpu {

// Results that are always zero are not kept: they are made once, and pages of zeros cost nothing.
std::unique_ptr<ResidentProgram> make_resident(const Program& program, const Arrays& constants,
                                               const std::vector<Feed>& feeds);

}  // namespace braintrace::cpu
