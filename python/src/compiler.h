// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/compiler/diagnostics.h"
#include "convert.h"

namespace pybraintrace {

nb::object records_of(const bt::Diagnostics& records);  // a tuple of CompilationRecord

}  // namespace pybraintrace
