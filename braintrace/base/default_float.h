// SPDX-License-Identifier: Apache-2.0
// The float type of values that are created without a type. It is defined in the lowest layer so that every layer can
// read it; users set it as the precision of the Environment (model/environment.h).
#pragma once

#include <optional>

#include "braintrace/base/dtype.h"

namespace braintrace {

DType default_float();  // default: f32

void set_default_float(DType dtype);  // for the whole process
// For this thread; takes precedence over that of the process. An empty value removes it.
void set_thread_default_float(std::optional<DType> dtype);

}  // namespace braintrace
