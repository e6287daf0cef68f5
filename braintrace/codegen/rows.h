// SPDX-License-Identifier: Apache-2.0
// Loop interchange: loops over time in which the rows of a batch do not meet are tiled by rows outside the time loop.
// Each part runs through all steps on its own, on one thread, without waiting for the others. Bits do not change: a row
// is computed the same way in any part.
//
//   for t < T:                              parallel for part < 2:
//     for b < 32:                             for t < T:
//       h[b] = f(h[b], x[t,b])       →          for b in 16 part … 16 part + 15:
//                                                 h[b] = f(h[b], x[t,b])
//
// For each value of the body the pass finds out whether a part needs only its own rows of it, or all of it. A part that
// would read a row of another part ends the attempt.
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

// Nothing when rows meet, there are too few to share out, or many cores do better to share the columns of large
// weights.
std::optional<Rows> in_rows(const ScanParts& scan, const Target& target);

}  // namespace braintrace::codegen
