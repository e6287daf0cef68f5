// SPDX-License-Identifier: Apache-2.0
// Where the positions of a region meet: in sums over a row, maxima and the like, which every position of the row then
// reads. With y the argument and r what they meet in, of which one may be made of another,
//
//   h[p] = f(y[p], r[g(p)])        r[j] = a function of the y[q] with g(q) = j
//   ∂h[p]/∂y[p] = ∂f/∂y + Σ_r ∂f/∂r · dr[g(p)]/dy[p]
//
// ∂f/∂y and ∂f/∂r hold every r, so positions stay apart: one push serves all of them. dr/dy is a whole derivative, and
// each y[q] reaches one element of r: one pull serves all of them. Nothing of the size of positions × positions is
// made.
#pragma once

#include <optional>

#include "braintrace/ir/op.h"

namespace braintrace {

struct Meetings {
  Program reach;  // inputs → every r
  Program local;  // inputs, then every r → results
};

// None where positions meet in another way, as in a matrix product or a running sum. Positions lie on the leading axes
// `from` of argument `arg` and, by the same flat numbers, on the leading axes `to` of the results, which repeat them
// along axes of size one.
std::optional<Meetings> find_meetings(const Program& region, size_t arg, const Shape& from, const Shape& to);

// The sum above for every result at the inputs `in`, with respect to number `input` of them; undefined where it is
// zero. `slots` has the type of that input and says which of the elements at a position are meant.
Tensors diagonal_through(const Meetings& meetings, const Tensors& in, size_t input, const Tensor& slots,
                         const Shape& from, const Shape& to);

}  // namespace braintrace
