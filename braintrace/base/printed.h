// SPDX-License-Identifier: Apache-2.0
// What has a to_string prints with fmt:
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
    return fmt::format_to(context.out(), "{}", to_string(value));
  }
};

}  // namespace braintrace
