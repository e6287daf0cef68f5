// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/path.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace braintrace {

Path Path::dotted(std::string_view text) {
  Path p;
  while (!text.empty()) {
    const auto dot = std::min(text.find('.'), text.size());
    p.keys_.emplace_back(text.substr(0, dot));
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  return p;
}

bool Path::is_index(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string Path::str() const { return fmt::format("{}", fmt::join(keys_, ".")); }

std::string Path::tuple() const {
  std::string out = "(";
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (i) out += ", ";
    out += is_index(keys_[i]) ? keys_[i] : "'" + keys_[i] + "'";
  }
  return out + (keys_.size() == 1 ? ",)" : ")");
}

}  // namespace braintrace
