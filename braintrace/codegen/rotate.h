// SPDX-License-Identifier: Apache-2.0
// Software pipelining (loop rotation) of a step that runs on its own results. A step that ends by updating large
// arrays, and the next one, which begins by reading them, make two passes over memory:
//
//   y = x W    v = …    W ← W - u vᵀ         y = x W    v = …    W ← W - u vᵀ         …
//
// After rotation, a step keeps the small operands of its update (u and v) for the next step, which fuses the update
// with the product into one pass. The same values are computed, only later:
//
//   W ← W - u vᵀ,  y = x W    v = …          W ← W - u vᵀ,  y = x W    v = …          …
//
// In the code, *carries* are such arrays W, *late* values are those that only carries depend on, and *pending* values
// are what the deferred update needs.
#pragma once

#include <optional>

#include "braintrace/codegen/passes.h"
#include "braintrace/runtime/backend.h"

namespace braintrace::codegen {

struct Rotated {
  // Takes the arguments of the program and the pending values. Returns its results, with the updates of large arrays
  // deferred, and the new pending values.
  Program step;
  // Applies the pending updates to the large arrays: (large arrays, pending) → the same, with nothing pending.
  Program             settle;
  std::vector<size_t> large;    // arguments of the program that `settle` updates
  Arrays              pending;  // initial values: nothing pending
};

// Nothing if no large array is both updated elementwise and read only by products with vectors.
std::optional<Rotated> rotated(const Program& program, const std::vector<Feed>& feeds, const Options& options = {});

}  // namespace braintrace::codegen
