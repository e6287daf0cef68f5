// SPDX-License-Identifier: Apache-2.0
// Where every value lives: an input, a constant, a result, or a place in one arena. Places are used again when their
// value is no longer needed; an elementwise result takes the place of an operand that ends there, and so does what a
// loop stacks row by row.
#pragma once

#include <cstdint>

#include "braintrace/codegen/fuse.h"

namespace braintrace::codegen {

struct Place {
  enum class Kind : uint8_t { None, Input, Constant, Result, Arena };
  Kind    kind = Kind::None;
  int64_t at   = 0;  // number of the input, constant or result, or offset in bytes
};

// The result may be written where the argument is read: nothing needs the argument at another position or later.
struct InPlace {
  size_t result, arg;
};

// What a stage asks for.
struct Needs {
  int64_t                          scratch = 0;  // bytes of working memory
  std::vector<std::pair<Var, Var>> in_place;     // (result, operand): the result may lie where the operand ends
};

struct Plan {
  std::vector<Place>                  places;       // by value
  std::vector<int64_t>                scratch;      // by stage: offset of its working memory
  int64_t                             arena_bytes;  // a multiple of the alignment
  std::vector<std::pair<Var, size_t>> copies;       // results that are made elsewhere: from, number of the result
  std::vector<InPlace>                in_place;     // results that may overwrite an input
};

// `needs` : by stage; `constants` : values of constant equations, with their numbers; `alignment` : of every place in
// the arena.
Plan planned(const Program& program, const Fused& fused, const std::vector<Needs>& needs,
             const std::vector<std::pair<Var, int64_t>>& constants, int64_t alignment);

}  // namespace braintrace::codegen
