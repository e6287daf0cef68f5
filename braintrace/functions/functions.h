// SPDX-License-Identifier: Apache-2.0
// Transforms of user functions, on any trees of tensors and in any nesting. All of them trace the function once with
// trace_function (frame.h): states it reads become inputs, states it writes become outputs that are stored after the
// call. If the function throws, no state changes.
//
// Each template calls a function on lists of tensors in namespace flat; bindings for other languages call those, too.
#pragma once

#include "braintrace/functions/derivatives.h"
#include "braintrace/functions/grad.h"
#include "braintrace/functions/jit.h"
#include "braintrace/functions/vmap.h"
