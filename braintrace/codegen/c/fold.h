// SPDX-License-Identifier: Apache-2.0
// Reductions as C expressions.
#pragma once

#include <string>

#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

// How a reduction starts, goes on and joins partial results. $s is the sum so far, $a and $b the operands' elements.
struct FoldText {
  std::string type, start, next, join;
};
FoldText fold_text(const Reduction& r);

}  // namespace braintrace::codegen
