// SPDX-License-Identifier: Apache-2.0
// Factoring of sums of outer products, as the update of a weight matrix is one. Factors that vary along rows or columns
// only are hoisted out of the inner loop and combined as vectors first:
//
//   before                                            after
//   for i, j:                                         for j: α[j] = η (a[j] + b[j]),  γ[j] = η c[j]
//     w[i,j] -= η (x[i] a[j] + x[i] b[j] + e[i] c[j])  for i, j: w[i,j] -= x[i] α[j] + e[i] γ[j]
//
// The sum is expanded into terms, each a product of parts by the axes they vary over (x[i] by rows, a[j] by columns).
// Terms that differ in one part only are added in that part. A part that is a sum itself is expanded where terms
// cancel. The result replaces the original where it has fewer operations per element.
#pragma once

#include "braintrace/codegen/target.h"
#include "braintrace/ir/program.h"

namespace braintrace::codegen {

Program separated(const Program& program, const Target& target);

}  // namespace braintrace::codegen
