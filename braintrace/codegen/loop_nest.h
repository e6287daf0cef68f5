// SPDX-License-Identifier: Apache-2.0
// Turns a fused stage into a loop nest: collapses axes, hoists elements to the outermost loop that defines their
// counters, tiles sums (blocks) or interleaves accumulators (lanes), and unrolls and jams rows.
//
//   stage: y[i] = Σ_j a[i,j] x[j]  over (i, j)   →   for i:  s[16] = 0;  for j by 16:  s[l] += a[i,j+l] x[j+l]
//                                                            y[i] = the sum of s, by a tree
//
// Counters run over the axes of the iteration space. Without reductions, loops have the order of the axes. With them:
//
//   the last axis is kept      kept axes, reduced axes, last two axes (one tile)
//   the last axis is reduced   kept axes, reduced axes
//
// so the order of every sum depends only on the shapes.
#pragma once

#include "braintrace/codegen/fuse.h"
#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

// `fused` : of the program; its memory says which buffer holds each value.
Kernel loop_kernel(const Program& p, const Stage& stage, const Fused& fused, const Target& target);

}  // namespace braintrace::codegen
