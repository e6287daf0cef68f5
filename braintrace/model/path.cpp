// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/path.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace braintrace {

namespace {

std::strong_ordering compare_keys(const std::string& a, const std::string& b) {
  const bool a_index = Path::is_index(a), b_index = Path::is_index(b);
  if (a_index != b_index) return a_index ? std::strong_ordering::less : std::strong_ordering::greater;
  if (a_index && a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

}  // namespace

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
  const bool digits = std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && !key.empty() && (key == "0" || key[0] != '0');
}

std::strong_ordering Path::operator<=>(const Path& other) const {
  const auto & a = keys_, &b = other.keys_;
  const size_t n = std::min(a.size(), b.size());
  for (size_t i = 0; i < n; ++i)
    if (const auto order = compare_keys(a[i], b[i]); order != 0) return order;
  return a.size() <=> b.size();
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

std::ostream& operator<<(std::ostream& out, const Path& path) { return out << path.str(); }

}  // namespace braintrace
