// SPDX-License-Identifier: Apache-2.0
// Products of a program in the form that runs fastest.
#pragma once

#include "braintrace/codegen/target.h"
#include "braintrace/ir/op.h"
#include "braintrace/ops/keys.h"

namespace braintrace::codegen {

// y = Σ over axes of a · b; operands have one type. Sums in the type of the operands, by fused multiply-adds.
extern const Op product_sum_op;

// What a matrix product does better than the equations written: sums of products of repeated operands, transposes and
// parts of products, convolutions (patches.h). Sums over axes of size one go.
//
//   reduce_sum[axes=1](broadcast(x) * broadcast(w))      becomes      dot_general(x, w)
Program as_products(const Program& program, const Target& target);

// The same, then joined where products share an operand.
Program with_products(const Program& program, const Target& target);

// Bodies of custom rules in place, less work inside loops (lower_scan.h).
Program hoisted(const Program& program, const Target& target);

// Products that are not matrix products as sums of elementwise products, which fuse with what makes their operands.
//
//   dot_general(v, W)      becomes      product_sum[axes=0](broadcast(v), W)
Program as_sums(const Program& program, const Target& target);

// The whole program with outer products as products of repeated vectors, few of them.
Program with_outer_products(const Program& program, const Target& target);

}  // namespace braintrace::codegen
