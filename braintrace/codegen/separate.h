// SPDX-License-Identifier: Apache-2.0
// Factors sums of outer products, such as weight updates: hoists factors that vary only along rows or columns out of
// the inner loop, and combines them as vectors.
//
//   before                                            after
//   for i, j:                                         for j: α[j] = η (a[j] + b[j]),  γ[j] = η c[j]
//     w[i,j] -= η (x[i] a[j] + x[i] b[j] + e[i] c[j])  for i, j: w[i,j] -= x[i] α[j] + e[i] γ[j]
//
// The sum is expanded into terms, each a product of factors by the axes they vary over (x[i] by rows, a[j] by columns).
// Terms that differ in one factor are combined in that factor. A factor that is itself a sum is expanded if terms
// cancel. The result replaces the original if it needs fewer operations per element.
#pragma once

#include "braintrace/codegen/target.h"
#include "braintrace/ir/program.h"

namespace braintrace::codegen {

Program separated(const Program& program, const Target& target);

}  // namespace braintrace::codegen
