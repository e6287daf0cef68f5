// SPDX-License-Identifier: Apache-2.0
// Rewrites products into the form that runs fastest: matrix product or fused reduction.
#pragma once

#include "braintrace/codegen/passes.h"
#include "braintrace/ir/op.h"
#include "braintrace/ops/keys.h"

namespace braintrace::codegen {

// y = Σ over axes of a · b, for operands of the same type. Accumulates in this type, with fused multiply-adds.
extern const Op product_sum_op;

// The same over each of `parts` ranges of the first axis, which are equally long; the last one may be shorter.
extern const Op               part_sums_op;
inline constexpr Key<int64_t> parts{"parts"};

// Strength reduction to matrix products: sums of products of broadcast operands, transposes and slices of products, and
// convolutions (patches.h) become dot_general. Removes reductions over axes of size one.
//
//   reduce_sum[axes=1](broadcast(x) * broadcast(w))      →      dot_general(x, w)
Program as_products(const Program& program, const Target& target);

// Inlines the bodies of custom rules and hoists work out of loops (lower_scan.h).
Program hoisted(const Program& program, const Options& options);

// The reverse: products that are not proper matrix products become reductions, which fuse with the equations that
// compute their operands.
//
//   dot_general(v, W)      →      product_sum[axes=0](broadcast(v), W)
//   dot_general(x, v)      →      x₀ ⊗ v₀ + x₁ ⊗ v₁      for a large result, and few rows x₀, x₁ and v₀, v₁
Program as_sums(const Program& program, const Target& target);

// Rewrites outer products as elementwise products of broadcast vectors, and combines them (separate.h).
Program with_outer_products(const Program& program, const Options& options);

}  // namespace braintrace::codegen
