// SPDX-License-Identifier: Apache-2.0
// Many runs of one compiled program, shared among the threads: each thread makes whole runs, so that what a run touches
// stays in the caches of one processor, and every run makes the bits that it would make alone.
#pragma once

#include "braintrace/runtime/backend.h"

namespace braintrace::cpu {

std::unique_ptr<ManyRuns> make_many_runs(const Program& program, const Arrays& constants,
                                         const std::vector<Feed>& feeds);

}  // namespace braintrace::cpu
