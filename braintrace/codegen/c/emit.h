// SPDX-License-Identifier: Apache-2.0
// A schedule as one C file: the last step, which decides nothing.
#pragma once

#include <set>
#include <string>

#include "braintrace/codegen/c/dialect.h"
#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

struct Emitted {
  std::string              source;
  std::vector<std::string> names;  // of the functions of schedule.entries: inputs are constants, then arguments
  Schedule                 schedule;
  std::set<DType>          products;  // types of the matrix products that the host provides
};

Emitted emit(Schedule schedule, Dialect dialect);
Emitted emit(const std::vector<Program>& programs, Dialect dialect = Dialect::Native);

}  // namespace braintrace::codegen
