// SPDX-License-Identifier: Apache-2.0
// Partitions a step of a time loop over the blocks of a team (owner computes). Each block owns some columns of every
// value and computes them in all kernels, so it synchronizes only before it reads columns of other blocks:
//
//   z = h W_z      reads all of h: barrier before it
//   r = h W_r
//   g = r ⊙ h      own columns
//   c = g W_c      reads all of g: barrier before it
//   h = z ⊙ c      own columns
#pragma once

#include <optional>

#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

// Partition of the positions of a value: `rows` by `columns`; each block owns `own` columns. Kernels with the same
// split access every position from the same block.
struct Split {
  int64_t rows, columns, own;
  bool    operator==(const Split&) const = default;
};

// A kernel of the step, or a copy after it.
struct Act {
  const Product*  product = nullptr;
  const LoopNest* nest    = nullptr;
  Var             from    = -1;  // source of a copy into result `result`
  size_t          result  = 0;
  Split           split{};
  Vars            own_reads = {}, far_reads = {}, writes = {};  // far: at positions that other blocks may own
  bool            meets = false;                                // barrier before it
};

// Where a buffer of the step is stored.
enum class Home : uint8_t {
  Memory,
  Shared,   // shared memory of the owning block
  Local,    // registers
  Early,    // registers, prefetched one step ahead: an input
  Number,   // the same for a scalar input, which every thread reads
  Carried,  // registers across steps: the carry at the start of the step
  Next      // and at its end
};

struct Ownership {
  int64_t            rows   = 1;  // of the products
  int64_t            blocks = 1;  // per team
  std::vector<Act>   acts;
  std::vector<Home>  home;   // per buffer of the step
  std::vector<Split> split;  // per buffer that is not in memory
};

// Number of positions of a split that each thread of a block processes.
int64_t turns(const Split& split, int64_t threads);

// Flat position (row, column) of the nest's elements as a function of its loop counters.
Affine own_position(const LoopNest& nest);

// Nothing if the step contains kernels other than elementwise loops and products with loop-invariant weights.
std::optional<Ownership> ownership(const TimeLoop& loop, int64_t blocks, const Target::Blocks& of);

}  // namespace braintrace::codegen
