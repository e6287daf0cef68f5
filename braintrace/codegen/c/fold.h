// SPDX-License-Identifier: Apache-2.0
// C expressions for reductions.
#pragma once

#include <string>

#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

// Initial value, accumulation step, and combination of partial results. $s is the accumulator, $a and $b operand
// elements.
struct FoldText {
  std::string type, start, next, join;
};
FoldText fold_text(const Reduction& r);

}  // namespace braintrace::codegen
