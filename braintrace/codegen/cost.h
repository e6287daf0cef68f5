// SPDX-License-Identifier: Apache-2.0
// How much a schedule has to do: loops counted as often as they run.
#pragma once

#include "braintrace/codegen/schedule.h"
#include "braintrace/runtime/work.h"

namespace braintrace::codegen {

Work work_of(const Schedule& schedule, const Target& target = native_target());

}  // namespace braintrace::codegen
