// SPDX-License-Identifier: Apache-2.0
// What has a to_string prints with fmt:
//
//   template <>
//   struct fmt::formatter<braintrace::Path> : braintrace::Printed<braintrace::Path> {};
#pragma once

#include <algorithm>
#include <string>

#include <fmt/core.h>

namespace braintrace {

template <class T>
struct Printed {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(const T& value, Context& context) const {
    const std::string text = to_string(value);
    return std::copy(text.begin(), text.end(), context.out());
  }
};

}  // namespace braintrace
