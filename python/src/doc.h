// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace pybraintrace {

// A docstring with its parameters, one "name: text" each.
inline std::string with_args(std::string_view text, std::initializer_list<std::string_view> args) {
  std::string out = std::string(text) + "\n\nArgs:";
  for (std::string_view arg : args) out += "\n    " + std::string(arg);
  return out;
}

}  // namespace pybraintrace
