// SPDX-License-Identifier: Apache-2.0
// Loop fusion: which equations run in one loop nest, in which order the nests run, and which values need memory.
//
// Elementwise equations of one shape join the loop that computes their operand; a reduction joins the loop over its
// operand. Values used only inside their loop live in registers. Views (broadcast, transpose, …) are read in place.
//
//   a = x + y                      for i: for j: t = x[i,j] + y[i,j]
//   b = tanh(a)          →                       b[i,j] = tanh(t)
//   c = reduce_sum(a)                            c[i] += t
//
// The algorithm is greedy and places equations in program order: into the nest that computes an operand, else into one
// that reads the same array, else into a new nest. Adjacent nests are merged. A nest never includes an equation that
// depends on its results.
#pragma once

#include "braintrace/codegen/passes.h"

namespace braintrace::codegen {

// Axes of an iteration space over which reductions run; none without reductions. If `parts` is nonzero, the reductions
// are sums over so many parts of the first axis.
struct Reduced {
  Ints    axes                             = {};
  int64_t parts                            = 0;
  bool    operator==(const Reduced&) const = default;
};

struct Stage {
  std::vector<int32_t> eqns      = {};    // in program order
  bool                 loop      = true;  // a fused loop nest; otherwise a single equation with its own kernel
  Shape                space     = {};    // iteration space, without axes of size one
  Reduced              reduced   = {};    // what its reductions run over
  Vars                 writes    = {};    // materialized values that it computes
  Vars                 reads     = {};    // materialized values that it uses
  Vars                 scattered = {};    // those of `reads` that it reads at other positions than it writes
  std::vector<int32_t> gathers   = {};    // gathers at known indices that are fused into it
};

struct Fused {
  std::vector<Stage>   stages;
  Vars                 memory;    // per value: the value whose memory holds it, or -1
  std::vector<int32_t> producer;  // of each value: equation index, -1 for inputs
};

// If the pass is disabled, every equation has its own loop nest.
Fused fused(const Program& program, const Options& options = {});

// Whether loops can compute the equation as a running reduction.
bool is_reduction(const Eqn& e);

}  // namespace braintrace::codegen
