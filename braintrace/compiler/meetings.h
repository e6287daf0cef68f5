// SPDX-License-Identifier: Apache-2.0
// Regions whose positions interact only through reductions r, such as sums or maxima over a row, which every position
// of the row then reads. With y the argument (one r may be computed from another),
//
//   h[p] = f(y[p], r[g(p)])        r[j] = a function of the y[q] with g(q) = j
//   ∂h[p]/∂y[p] = ∂f/∂y + Σ_r ∂f/∂r · dr[g(p)]/dy[p]
//
// ∂f/∂y and ∂f/∂r are taken at constant r, so positions do not mix: one jvp computes all of them. dr/dy is a total
// derivative, and each y[q] reaches one element of r: one vjp computes all of them. No array of size positions ×
// positions is needed.
#pragma once

#include <optional>

#include "braintrace/ir/op.h"

namespace braintrace {

struct Meetings {
  Program reach;  // inputs → every r
  Program local;  // inputs, then every r → results
};

// None if positions interact in another way, as in a matrix product or a cumulative sum. Positions are the leading axes
// `from` of argument `arg` and, with the same flat indices, the leading axes `to` of the results, which repeat them
// along axes of size one.
std::optional<Meetings> find_meetings(const Program& region, size_t arg, const Shape& from, const Shape& to);

// The sum above for every result at the inputs `in`, with respect to input number `input`; undefined where it is zero.
// `slots` has the type of that input and selects elements at each position.
Tensors diagonal_through(const Meetings& meetings, const Tensors& in, size_t input, const Tensor& slots,
                         const Shape& from, const Shape& to);

}  // namespace braintrace
