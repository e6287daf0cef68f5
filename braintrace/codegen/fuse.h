// SPDX-License-Identifier: Apache-2.0
// Loop fusion: which equations run in one loop nest, in which order the nests run, and which values need memory.
//
// Elementwise equations of one shape join the loop that makes their operand; a reduction joins the loop over its
// operand. Values used only inside their loop are registers, not memory. Views (broadcast, transpose, …) are read in
// place.
//
//   a = x + y                      for i: for j: t = x[i,j] + y[i,j]
//   b = tanh(a)          →                       b[i,j] = tanh(t)
//   c = reduce_sum(a)                            c[i] += t
//
// Equations are placed one by one, in the order of the program: into the nest that makes an operand, else into one that
// reads the same array, else into a nest of their own. Nests that turn out to be neighbors merge. A nest never takes in
// what would have to wait for its own results.
#pragma once

#include "braintrace/codegen/passes.h"

namespace braintrace::codegen {

struct Stage {
  std::vector<int32_t> eqns      = {};    // in order
  bool                 loop      = true;  // a fused loop nest; else the one equation has a rule of its own
  Shape                space     = {};    // of the loop nest, without axes of size one
  Ints                 reduced   = {};    // axes of `space` its reductions run over; empty without reductions
  Vars                 writes    = {};    // values with memory that it makes
  Vars                 reads     = {};    // values with memory that it needs
  Vars                 scattered = {};    // those among them that it reads at other positions than it writes
  std::vector<int32_t> gathers   = {};    // equations that take elements at known positions, done in their place
};

struct Fused {
  std::vector<Stage> stages;
  Vars               memory;  // by value: the value whose memory holds it, or -1
};

// Without joining, every equation has a loop nest of its own.
Fused fused(const Program& program, const Options& options = {});

// Whether an equation is a reduction that loops can compute while they run.
bool is_reduction(const Eqn& e);

}  // namespace braintrace::codegen
