// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

#include "braintrace/base/ascii.h"

namespace braintrace {

// Names of modules and states: at most 100 letters, digits, '_' and '-'. This makes dotted paths unique, and names need
// no escaping in any file, page or program.
inline bool is_name(std::string_view text) {
  const auto allowed = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; };
  return !text.empty() && text.size() <= 100 && std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace braintrace
