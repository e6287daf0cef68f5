// SPDX-License-Identifier: Apache-2.0
// A fused stage as a loop nest: axes collapsed, elements hoisted to the outermost loop that knows their counters, sums
// tiled (blocks) or interleaved (lanes), rows unrolled and jammed.
//
// Counters run over the axes of the stage's space; neighboring axes become one loop where all positions allow it.
// Without reductions loops run in the order of the axes. With them
//
//   the last axis is kept      kept axes, reduced axes, last two axes (one tile)
//   the last axis is reduced   kept axes, reduced axes
//
// so the order of every sum is fixed by the shapes alone:
//
//   stage: y[i] = Σ_j a[i,j] x[j]  over (i, j)   →   for i:  s[16] = 0;  for j by 16:  s[l] += a[i,j+l] x[j+l]
//                                                            y[i] = the sum of s, by a tree
#pragma once

#include "braintrace/codegen/fuse.h"
#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

// `memory` : by value, the buffer that holds it.
Kernel loop_kernel(const Program& p, const Stage& stage, const Vars& memory, const Target& target);

}  // namespace braintrace::codegen
