// SPDX-License-Identifier: Apache-2.0
// Positions as affine functions of loop counters, and the ops that only look at their operand in another way.
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
// "3 * i0 + i1 + 7", counters as `name` calls them.
std::string text_of(const Affine& x, const std::function<std::string(size_t)>& name);
Affine      sum(Affine a, const Affine& b, int64_t times = 1);

using Index = std::vector<Affine>;                                       // one per axis
Affine offset(const Index& index, const Shape& shape, size_t counters);  // of the element in a dense array

// Whether the op only selects or repeats elements of its one operand, at positions known now.
bool is_view(const Op& op);
// Where an element of the view lies in its operand; nothing when that is not an affine function (a reshape that joins
// axes).
std::optional<Index> seen(const Eqn& e, const Program& p, const Index& index, size_t counters);

// The value that v shows through views, as far as these are affine functions; `index` into v becomes the one into it.
Var behind_views(const Program& p, const std::vector<int32_t>& producer, Var v, Index& index, size_t counters);

// A reshape that adds or drops axes of size one, and changes nothing else.
bool keeps_axes(const Eqn& e, const Program& p);

// So many elements of a value from one on, as they lie in memory.
struct Piece {
  Var     base;
  int64_t at, size;
};
// The pieces v consists of, one after the other: one for a value that lies in memory or a dense part of it, several for
// those put together along the first axis. Nothing for other values.
std::vector<Piece> dense_pieces(const Program& p, const std::vector<int32_t>& producer, Var v);

// Axes that are longer than one.
Shape squeezed(const Shape& shape);
Ints  long_axes(const Shape& shape);
// The counters of a loop over squeezed(shape) as an index.
Index natural_index(const Shape& shape);

}  // namespace braintrace::codegen
