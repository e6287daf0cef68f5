// SPDX-License-Identifier: Apache-2.0
// Loop interchange and tiling: if the rows of a batch are independent, tiles them outside the time loop. Each part runs
// all steps on one thread without synchronization. Results are bit-identical: a row is computed the same way in any
// part.
//
//   for t < T:                              parallel for part < 2:
//     for b < 32:                             for t < T:
//       h[b] = f(h[b], x[t,b])       →          for b in 16 part … 16 part + 15:
//                                                 h[b] = f(h[b], x[t,b])
//
// For each value of the body, the pass determines whether a part needs only its own rows or the whole value. If a part
// would read a row of another part, the loop is not changed.
#pragma once

#include <optional>

#include "braintrace/codegen/target.h"
#include "braintrace/control/scan_parts.h"

namespace braintrace::codegen {

struct Rows {
  Program body;           // for the rows of one part
  Mask    args, results;  // which have rows; the others are the same in every part
  int64_t parts = 1;
  int64_t work  = 0;  // of one step of the whole batch, in elements
};

// Nothing if rows depend on each other, if there are too few, if no division gives all cores enough work, or if many
// cores should split the columns of large weights instead.
std::optional<Rows> in_rows(const ScanParts& scan, const Target& target);

}  // namespace braintrace::codegen
