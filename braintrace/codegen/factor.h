// SPDX-License-Identifier: Apache-2.0
// One linear map of a sum in place of a sum of maps: A b + A c = A (b + c), where A is a matrix product or a sum over
// axes, alone or under factors, signs and views that both terms share.
//
//   dot_general(W, b) + dot_general(W, c)      →      dot_general(W, b + c)
#pragma once

#include "braintrace/ir/program.h"

namespace braintrace::codegen {

Program factored(const Program& program);

}  // namespace braintrace::codegen
