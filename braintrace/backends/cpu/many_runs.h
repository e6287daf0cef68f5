// SPDX-License-Identifier: Apache-2.0
// Many runs of one compiled program, distributed over threads. Each thread executes whole runs, so that the data of a
// run stay in the caches of one core. Every run is bit-identical to a run on its own.
#pragma once

#include "braintrace/runtime/backend.h"

namespace braintrace::cpu {

std::unique_ptr<ManyRuns> make_many_runs(const Program& program, const Arrays& constants,
                                         const std::vector<Feed>& feeds);

}  // namespace braintrace::cpu
