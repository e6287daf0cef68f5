// SPDX-License-Identifier: Apache-2.0
// A program made ready for emission: composites expanded, bodies of custom rules in place, simplified, and products
// that are no matrix products written as sums of elementwise products, which fuse with what makes their operands.
#pragma once

#include "braintrace/ir/op.h"

namespace braintrace::codegen {

// y = Σ over axes of a · b; operands have one type. Sums in the type of the operands, by fused multiply-adds.
extern const Op            product_sum_op;
inline constexpr Key<Ints> axes_key{"axes"};

Program lowered(const Program& program);

// One step of it: sums of products of repeated operands as matrix products, joined where they share an operand.
Program with_products(const Program& program);

// The same, with outer products as products of repeated vectors, few of them.
Program with_outer_products(const Program& program);

}  // namespace braintrace::codegen
