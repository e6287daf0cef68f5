// SPDX-License-Identifier: Apache-2.0
// Software pipelining of a step that runs on its own results. A step that ends by adding to large arrays, and the next,
// which begins by reading them, walk over them twice:
//
//   y = x W    v = …    W ← W - u vᵀ         y = x W    v = …    W ← W - u vᵀ         …
//
// Rotated, a step keeps what its update needs (u and v, which are small) for the next one, where update and product are
// one walk. No element is computed in another way, only later.
//
//   W ← W - u vᵀ,  y = x W    v = …          W ← W - u vᵀ,  y = x W    v = …          …
//
// In the code, *carries* are such arrays W, *late* values are those that only carries wait for, and what they need of
// the step that ends is *pending*.
#pragma once

#include <optional>

#include "braintrace/codegen/target.h"
#include "braintrace/runtime/backend.h"

namespace braintrace::codegen {

struct Rotated {
  // Takes what the program takes, and what is pending. Gives what the program gives, but with updates of large arrays
  // pending, and what is pending.
  Program step;
  // Of large arrays and what is pending: the same, with nothing pending.
  Program             settle;
  std::vector<size_t> large;    // arguments of the program that it settles
  Arrays              pending;  // where nothing is
};

// Nothing where no large array is both updated element by element and read by products with vectors alone.
std::optional<Rotated> rotated(const Program& program, const std::vector<Feed>& feeds,
                               const Target& target = native_target());

}  // namespace braintrace::codegen
