// SPDX-License-Identifier: Apache-2.0
// Transforms of user functions, on any trees of tensors and in any nesting. All of them trace the function once with
// trace_function (frame.h): states it reads become inputs, states it writes become outputs that are stored after the
// call. A function that throws leaves every state as it was.
//
// Under each template is a plain function in namespace flat: the same on lists of tensors. Bindings of other languages
// call those, with trees of their own.
#pragma once

#include "braintrace/functions/derivatives.h"
#include "braintrace/functions/grad.h"
#include "braintrace/functions/jit.h"
#include "braintrace/functions/vmap.h"
