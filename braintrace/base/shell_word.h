// SPDX-License-Identifier: Apache-2.0
// Words of commands that messages show for copying into a shell.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "braintrace/base/ascii.h"

namespace braintrace {

// The text as one word of a POSIX shell: unchanged if the shell treats no character of it specially, else quoted.
inline std::string shell_word(std::string_view text) {
  const auto is_plain = [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view("_-+=./:,@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace braintrace
