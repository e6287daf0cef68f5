// SPDX-License-Identifier: Apache-2.0
// The float type of values that are made without one. It stands this low so that every layer can read it; users choose
// it as the precision of the Environment (model/environment.h).
#pragma once

#include <optional>

#include "braintrace/base/dtype.h"

namespace braintrace {

DType default_float();  // f32 unless set

void set_default_float(DType dtype);  // of the process
// Of this thread, before that of the process; nothing = that of the process.
void set_thread_default_float(std::optional<DType> dtype);

}  // namespace braintrace
