// SPDX-License-Identifier: Apache-2.0
// Fuses parallel regions. If many cores divide the products of a step into blocks, so do the elementwise loops over
// what they compute. A kernel that reads only blocks which the same part of the kernels before it has written runs
// right after them on the same thread: cores synchronize only before a kernel that needs the blocks of others.
//
//   parallel  z = h U               parallel  for block:  z = h U,  r = h V,  g = σ(r) h
//   parallel  r = h V          →    parallel  for block:  c = g W,  h = z tanh(c)
//   parallel  g = σ(r) h
//   parallel  c = g W         reads all columns of g
//   parallel  h = z tanh(c)
#pragma once

#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

// Divides loop nests as the products of their shape that have `least` work, and marks kernels that join the region of
// the kernel before.
void join_regions(std::vector<Kernel>& kernels, int64_t least);

// The last kernel of the region that contains kernel `k`.
size_t region_end(const std::vector<Kernel>& kernels, size_t k);

}  // namespace braintrace::codegen
