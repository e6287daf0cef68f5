// SPDX-License-Identifier: Apache-2.0
// Factors common linear maps out of sums: A b + A c = A (b + c), where A is a matrix product or a reduction, possibly
// under scale factors, signs and views that both terms share. Saves one of the two expensive operations.
//
//   dot_general(W, b) + dot_general(W, c)      →      dot_general(W, b + c)
#pragma once

#include "braintrace/ir/program.h"

namespace braintrace::codegen {

Program factored(const Program& program);

}  // namespace braintrace::codegen
