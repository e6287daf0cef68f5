// SPDX-License-Identifier: Apache-2.0
// Products and sums of any number of tensors, written with one letter per axis.
#pragma once

#include <string_view>

#include "braintrace/ops/families.h"

namespace braintrace {

//   einsum("bi,io->bo", {x, w})     axes with a letter missing on the right are summed
//   einsum("ii->i", {a})            a letter twice in one operand selects the diagonal
//   einsum("...ij,...jk", {a, b})   "..." means any axes, which broadcast. Without "->" the result has the "..."
//                                   axes, then the letters that occur once, in alphabetical order
// Operands are contracted from left to right, each pair by one dot_general. Not trainable. The braces distinguish it
// from the trainable einsum("bi,io->bo", x, w) of etp/einsum.h.
Tensor einsum(std::string_view equation, Tensors operands);

}  // namespace braintrace
