// SPDX-License-Identifier: Apache-2.0
// Views: operations that only rearrange or repeat elements of their operand. They are folded into positions, affine
// functions of loop counters, so that loops read the operand in place:
//
//   y = transpose(x);  z[i,j] = y[i,j] + 1      →      z[i,j] = x[j,i] + 1
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "braintrace/ir/op.h"

namespace braintrace::codegen {

// k + Σ_i c_i · (counter i)
struct Affine {
  Ints    c;
  int64_t k = 0;

  bool operator==(const Affine&) const = default;
  bool operator<(const Affine& o) const { return k != o.k ? k < o.k : c < o.c; }
  bool is_constant() const;
};
Affine constant(size_t counters, int64_t k);
// "3 * i0 + i1 + 7"; `name` prints the counters.
std::string text_of(const Affine& x, const std::function<std::string(size_t)>& name);
Affine      sum(Affine a, const Affine& b, int64_t times = 1);

using Index = std::vector<Affine>;                                       // one per axis
Affine offset(const Index& index, const Shape& shape, size_t counters);  // of the element in a dense array

// Whether the op only selects or repeats elements of its operand, at positions known at compile time.
bool is_view(const Op& op);
// The position in the operand of an element of the view; nothing if it is not affine (a reshape that merges axes).
std::optional<Index> seen(const Eqn& e, const Program& p, const Index& index, size_t counters);

// The value behind the affine views that compute v. Converts `index` from an index into v to an index into that value.
Var behind_views(const Program& p, const std::vector<int32_t>& producer, Var v, Index& index, size_t counters);

// Whether the equation is a reshape that only adds or removes axes of size one.
bool keeps_axes(const Eqn& e, const Program& p);

// A contiguous range of elements of a value.
struct Piece {
  Var     base;
  int64_t at, size;
};
// The contiguous pieces that v consists of: one for a value in memory or a dense part of it, several for a
// concatenation along the first axis. Empty for other values.
std::vector<Piece> dense_pieces(const Program& p, const std::vector<int32_t>& producer, Var v);

// Axes longer than one.
Shape squeezed(const Shape& shape);
Ints  long_axes(const Shape& shape);
// The counters of a loop over squeezed(shape) as an index.
Index natural_index(const Shape& shape);

}  // namespace braintrace::codegen
