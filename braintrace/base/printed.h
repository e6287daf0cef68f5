// SPDX-License-Identifier: Apache-2.0
// Makes types with a to_string printable with fmt:
//
//   template <>
//   struct fmt::formatter<braintrace::Path> : braintrace::Printed<braintrace::Path> {};
#pragma once

#include <fmt/core.h>

namespace braintrace {

template <class T>
struct Printed {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(const T& value, Context& context) const {
    // Not format_to: its symbol has a different name if Clang compiles this file and GCC compiled {fmt}.
    auto out = context.out();
    for (const char c : to_string(value)) *out++ = c;
    return out;
  }
};

}  // namespace braintrace
