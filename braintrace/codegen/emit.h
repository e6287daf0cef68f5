// SPDX-License-Identifier: Apache-2.0
// Programs → one C file.
#pragma once

#include <set>
#include <string>

#include "braintrace/codegen/dialect.h"
#include "braintrace/ir/op.h"

namespace braintrace::codegen {

// An equation that the compiled code asks the host to evaluate.
struct HostCall {
  Eqn   eqn;
  Types in, out;
};
struct Entry {
  std::string                            name;         // of its function: inputs are constants, then arguments
  int64_t                                arena_bytes;  // that a call needs
  std::vector<std::pair<size_t, size_t>> in_place;     // (result, argument) that may share memory
  bool                                   may_stop;     // halfway: at a wrong index, or because the host says so
};
struct Emitted {
  std::string           source;
  std::vector<Entry>    entries;  // one per program
  Arrays                constants;
  std::vector<HostCall> calls;
  std::set<DType>       products;  // types of the matrix products that the host provides
};

// In the portable dialect an equation without a rule is a UserError that names it.
Emitted emit(const std::vector<Program>& programs, Dialect dialect = Dialect::Native);

}  // namespace braintrace::codegen
