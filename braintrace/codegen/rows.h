// SPDX-License-Identifier: Apache-2.0
// Loops over time in which the rows of a batch do not meet: parts of the batch run through all steps on their own, each
// on one thread, without waiting for each other. Bits do not change: a row is computed the same way in any part.
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

// Nothing when rows meet, or there are too few to share out.
std::optional<Rows> in_rows(const ScanParts& scan, const Target& target);

}  // namespace braintrace::codegen
