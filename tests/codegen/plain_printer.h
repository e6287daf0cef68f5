// SPDX-License-Identifier: Apache-2.0
// A second printer: schedules as plain scalar loops, without vectors, threads, tiles or a host. Slow and simple: where
// the C of the library and this one disagree, the fault is in a printer; where both are wrong, in the schedule.
#pragma once

#include "braintrace/codegen/schedule.h"

namespace braintrace::testing_support {

// One C file; the function of entry i is plain_entry_i(arena, in, out).
std::string plain_source(const codegen::Schedule& schedule);

}  // namespace braintrace::testing_support
