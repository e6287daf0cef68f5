// SPDX-License-Identifier: Apache-2.0
// Marks on packs (base/pack.h), section by section.
#pragma once

#include <algorithm>

#include "braintrace/base/pack.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

template <template <class> class P, class List>
P<List> chosen(const P<List>& lists, const P<Mask>& marks) {
  return map_sections([](const List& list, const Mask& m) { return chosen(list, m); }, lists, marks);
}
template <template <class> class P>
P<Tensors> spread(const P<Tensors>& tensors, const P<Mask>& marks) {
  return map_sections([](const Tensors& t, const Mask& m) { return spread(t, m); }, tensors, marks);
}
// The operands of a transposed program: first those that are not cotangents, then cotangents.
template <class List>
struct BackOperands {
  List fixed, ct;
};

// The number of marked entries.
template <template <class> class P>
P<size_t> counts(const P<Mask>& marks) {
  return map_sections([](const Mask& m) { return static_cast<size_t>(std::count(m.begin(), m.end(), true)); }, marks);
}
inline Mask inverted(Mask marks) {
  marks.flip();
  return marks;
}
template <template <class> class P>
P<Mask> inverted(const P<Mask>& marks) {
  return map_sections([](const Mask& m) { return inverted(m); }, marks);
}

// Adds the marks of `more`; returns whether any was new.
inline bool grow(Mask& marks, const Mask& more) {
  bool changed = false;
  for (size_t i = 0; i < marks.size(); ++i)
    if (more[i] && !marks[i]) changed = marks[i] = true;
  return changed;
}

}  // namespace braintrace
