// SPDX-License-Identifier: Apache-2.0
// Sums of outer products with as few operations per element as can be. Factors that vary along rows or columns only are
// hoisted out of the inner loop: they are multiplied and added as vectors first,
//
//   w_ij - η (x_i a_j + x_i b_j + e_i c_j)  =  w_ij - (x_i α_j + e_i γ_j),   α = η (a + b),  γ = η c
//
// Vectors are written out as sums of products where that makes fewer of them: what was added and subtracted is gone.
//
// What a learning step does to a matrix of weights is mostly this.
#pragma once

#include "braintrace/codegen/target.h"
#include "braintrace/ir/program.h"

namespace braintrace::codegen {

Program separated(const Program& program, const Target& target);

}  // namespace braintrace::codegen
