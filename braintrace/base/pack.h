// SPDX-License-Identifier: Apache-2.0
// Packs: a flat list divided into named sections.
//
// Programs take and return flat lists. The layout of such a list is defined once, by a template whose members are the
// sections in order. Instantiated with lists, it packs and unpacks; instantiated with numbers, it holds the sizes.
//
//   template <class List>
//   struct StepInputs {
//     List args, states, memory;
//   };
//
//   const StepInputs<Types> types{arg_types, state_types, memory_types};
//   trace(joined(types), [&](const Tensors& flat) {
//     const StepInputs<Tensors> in = split(flat, types);  // sections as long as those of `types`
//     return step(in.args, in.states, in.memory);
//   });
//
//   const StepInputs<size_t> n = section_sizes(types);    // n.memory is the length of the section
//   const auto marks = split(mask, n);                    // marks.states are the marks of the states
#pragma once

#include <cstddef>
#include <type_traits>

#include "braintrace/base/error.h"
#include "braintrace/base/lists.h"

namespace braintrace {

template <class P>
concept Pack = std::is_aggregate_v<P>;

namespace detail {

// f(sections of the pack...)
template <class P, class F>
auto with_sections(const P& pack, F f) {
  if constexpr (requires { P{{}, {}, {}, {}, {}, {}, {}, {}}; }) {
    const auto& [a, b, c, d, e, g, h, i] = pack;
    return f(a, b, c, d, e, g, h, i);
  } else if constexpr (requires { P{{}, {}, {}, {}, {}, {}, {}}; }) {
    const auto& [a, b, c, d, e, g, h] = pack;
    return f(a, b, c, d, e, g, h);
  } else if constexpr (requires { P{{}, {}, {}, {}, {}, {}}; }) {
    const auto& [a, b, c, d, e, g] = pack;
    return f(a, b, c, d, e, g);
  } else if constexpr (requires { P{{}, {}, {}, {}, {}}; }) {
    const auto& [a, b, c, d, e] = pack;
    return f(a, b, c, d, e);
  } else if constexpr (requires { P{{}, {}, {}, {}}; }) {
    const auto& [a, b, c, d] = pack;
    return f(a, b, c, d);
  } else if constexpr (requires { P{{}, {}, {}}; }) {
    const auto& [a, b, c] = pack;
    return f(a, b, c);
  } else {
    const auto& [a, b] = pack;
    return f(a, b);
  }
}

}  // namespace detail

// The pack of f(section) for each section; for two packs, f(section of the first, section of the second).
template <class F, template <class> class P, class A>
requires Pack<P<A>>
auto map_sections(F f, const P<A>& pack) {
  return detail::with_sections(pack, [&](const auto&... a) { return P<std::invoke_result_t<F&, const A&>>{f(a)...}; });
}
template <class F, template <class> class P, class A, class B>
requires Pack<P<A>>
auto map_sections(F f, const P<A>& first, const P<B>& second) {
  return detail::with_sections(first, [&](const auto&... a) {
    return detail::with_sections(
        second, [&](const auto&... b) { return P<std::invoke_result_t<F&, const A&, const B&>>{f(a, b)...}; });
  });
}

// The lengths of the sections. Numbers are already sizes.
template <template <class> class P, class List>
requires Pack<P<List>> P<size_t> section_sizes(const P<List>& pack) {
  if constexpr (std::is_same_v<List, size_t>)
    return pack;
  else
    return map_sections([](const List& section) { return section.size(); }, pack);
}

// All sections as one list.
template <template <class> class P, class List>
requires Pack<P<List>> List joined(const P<List>& pack) {
  List out;
  detail::with_sections(pack, [&](const auto&... list) { (out.insert(out.end(), list.begin(), list.end()), ...); });
  return out;
}

// The list, split into sections of the same lengths as those of `like`.
template <class List, template <class> class P, class Like>
requires Pack<P<Like>> P<List> split(const List& list, const P<Like>& like) {
  auto       end  = list.begin();
  const auto next = [&](size_t n) {
    const auto begin = end;
    ensure(n <= static_cast<size_t>(list.end() - begin), "split: sections of more than {} entries", list.size());
    end += static_cast<std::ptrdiff_t>(n);
    return List(begin, end);
  };
  P<List> out = map_sections(next, section_sizes(like));
  ensure(end == list.end(), "split: {} entries are in no section", list.end() - end);
  return out;
}

}  // namespace braintrace
