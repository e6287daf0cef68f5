// SPDX-License-Identifier: Apache-2.0
// Small functions on lists of any type.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace braintrace {

// Concatenates lists.
template <class List>
List joined(List list, const std::type_identity_t<List>& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}
template <class List, class... More>
List joined(List list, const std::type_identity_t<List>& more, const std::type_identity_t<List>& next,
            const More&... last) {
  return joined(joined(std::move(list), more), next, last...);
}
// The entries in [begin, end).
template <class List>
List part(const List& list, std::ptrdiff_t begin, std::ptrdiff_t end) {
  return List(list.begin() + begin, list.begin() + end);
}
// The index of the first x, or the length of the list.
template <class List, class T>
size_t index_of(const List& list, const T& x) {
  size_t i = 0;
  for (const auto& entry : list) {
    if (entry == x) break;
    ++i;
  }
  return i;
}
template <class List, class T>
bool contains(const List& list, const T& x) {
  for (const auto& entry : list)
    if (entry == x) return true;
  return false;
}

}  // namespace braintrace
