// SPDX-License-Identifier: Apache-2.0
// Small functions on lists of axes, shared by the rules of many ops.
#pragma once

#include <algorithm>
#include <numeric>

#include "braintrace/base/lists.h"
#include "braintrace/ir/op.h"

namespace braintrace {

inline Ints prepend(int64_t first, Ints rest) {
  rest.insert(rest.begin(), first);
  return rest;
}
inline Ints counted(int64_t first, int64_t n) {  // first, first+1, … (n of them)
  Ints v(static_cast<size_t>(n));
  std::iota(v.begin(), v.end(), first);
  return v;
}
// The same axes after a leading axis is added.
inline Ints shifted(Ints v) {
  for (int64_t& x : v) ++x;
  return v;
}
inline Ints inverse(const Ints& perm) {
  Ints q(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) q[perm[i]] = static_cast<int64_t>(i);
  return q;
}
// Axes below the rank that are in neither list.
inline Ints others(int rank, const Ints& a, const Ints& b) {
  Ints out;
  for (int64_t i = 0; i < rank; ++i)
    if (!contains(a, i) && !contains(b, i)) out.push_back(i);
  return out;
}
// The product of the sizes of some axes.
inline int64_t size_along(const Shape& shape, const Ints& axes) {
  int64_t n = 1;
  for (int64_t a : axes) n *= shape[a];
  return n;
}
inline bool all_equal(const Ints& v, int64_t x) {
  return std::all_of(v.begin(), v.end(), [&](int64_t y) { return y == x; });
}

inline AxisLink axis_link(int64_t from, int64_t to, AxisLink::Kind kind = AxisLink::Kind::Same) {
  const int f = static_cast<int>(from), t = static_cast<int>(to);
  return {f, f + 1, t, t + 1, kind};
}

// Attributes hold axes counted from the front; only user functions accept negative ones.
inline void require_axis(const Op& op, int64_t axis, int rank) {
  require(0 <= axis && axis < rank, "{}: attribute axis is {}, expected 0 to {}.", op.name, axis, rank - 1);
}
inline void require_shape(const Op& op, const Shape& shape) {
  int64_t n = 1;
  for (int64_t d : shape)
    require(d >= 0 && !__builtin_mul_overflow(n, d, &n) && n <= (int64_t{1} << 46),
            "{}: shape {} has a negative size or is too large to hold.", op.name, to_string(shape));
}

}  // namespace braintrace
