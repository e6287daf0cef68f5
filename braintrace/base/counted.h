// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <string>

namespace braintrace {

// "1 update", "2 updates"
template <std::integral N>
std::string counted(N n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

}  // namespace braintrace
