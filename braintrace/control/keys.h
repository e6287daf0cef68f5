// SPDX-License-Identifier: Apache-2.0
// The attributes of operations that hold programs, each declared once.
#pragma once

#include "braintrace/ir/program.h"

namespace braintrace::keys {

inline constexpr Key<ProgramPtr>  body{"body"}, bwd{"bwd"}, cond{"cond"}, fwd{"fwd"}, rule{"rule"};
inline constexpr Key<ProgramPtrs> branches{"branches"};
inline constexpr Key<int64_t>     carry{"carry"}, consts{"consts"}, length{"length"}, max_steps{"max_steps"};

}  // namespace braintrace::keys
