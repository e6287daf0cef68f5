// SPDX-License-Identifier: Apache-2.0
// Operation counts of a schedule; the bodies of loops are counted once per iteration.
#pragma once

#include "braintrace/codegen/schedule.h"
#include "braintrace/runtime/work.h"

namespace braintrace::codegen {

Work work_of(const Schedule& schedule, const Target& target = native_target());

}  // namespace braintrace::codegen
