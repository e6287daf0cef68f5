// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

#include "braintrace/base/ascii.h"

namespace braintrace {

// Names of modules and states: letters, digits, '_' and '-', at most 100 of them. So no two places of a model have one
// dotted path, and a name may appear in any file, page or program as it is.
inline bool is_name(std::string_view text) {
  const auto allowed = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; };
  return !text.empty() && text.size() <= 100 && std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace braintrace
