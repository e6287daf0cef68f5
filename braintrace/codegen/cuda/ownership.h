// SPDX-License-Identifier: Apache-2.0
// A step of a time loop shared by the blocks of a team without moving work between them. Each block owns some columns
// of every value and computes them in all kernels, so it waits for the others only before it reads their columns:
//
//   z = h W_z      reads all of h: the team meets before it
//   r = h W_r
//   g = r ⊙ h      own columns
//   c = g W_c      reads all of g: the team meets before it
//   h = z ⊙ c      own columns
#pragma once

#include <optional>

#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

// The positions of a value: `rows` by `columns`, of which a block owns `own` columns. Kernels with the same split
// leave and find every position in the same block.
struct Split {
  int64_t rows, columns, own;
  bool    operator==(const Split&) const = default;
};

// A kernel of the step, or one of the copies after it.
struct Act {
  const Product*  product = nullptr;
  const LoopNest* nest    = nullptr;
  Var             from    = -1;  // of a copy into result `result`
  size_t          result  = 0;
  Split           split{};
  Vars            own_reads = {}, far_reads = {}, writes = {};  // far: at positions that other blocks may own
  bool            meets = false;                                // before it
};

// Where a buffer of the step lies.
enum class Home : uint8_t {
  Memory,
  Shared,   // memory of its block: working memory that only its owner sees,
  Local,    // or registers
  Early,    // registers, loaded one step ahead: an input,
  Number,   // or one of a single element, which every thread reads
  Carried,  // registers from step to step: a carry as the step finds it,
  Next      // and as the step leaves it
};

struct Ownership {
  int64_t            rows   = 1;  // of the products
  int64_t            blocks = 1;  // of a team
  std::vector<Act>   acts;
  std::vector<Home>  home;   // by buffer of the step
  std::vector<Split> split;  // by buffer that does not lie in memory
};

// Positions of a split that a thread of a block takes.
int64_t turns(const Split& split, int64_t threads);

// The position (row, column) of the nest's elements, in the order of its loops.
Affine own_position(const LoopNest& nest);

// Nothing where a kernel of the step does something else than products with weights that stay the same, and
// elementwise work.
std::optional<Ownership> ownership(const TimeLoop& loop, int64_t blocks, const Target::Blocks& of);

}  // namespace braintrace::codegen
