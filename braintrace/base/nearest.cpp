// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/nearest.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/base/error.h"
#include "braintrace/base/lists.h"

namespace braintrace {

namespace {

// Insertions, deletions and replacements that turn a into b.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0]          = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal              = row[j];
      row[j]                = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> nearest(const std::string& word, const std::vector<std::string>& known) {
  std::optional<std::string> best;
  size_t                     distance = 1 + word.size() / 2;
  for (const std::string& k : known) {
    if (std::max(word.size(), k.size()) - std::min(word.size(), k.size()) >= distance)
      continue;  // so far apart, or more
    if (const size_t d = edit_distance(word, k); d < distance) {
      distance = d;
      best     = k;
    }
  }
  return best;
}

std::string hint(const std::string& word, const std::vector<std::string>& known) {
  const auto n = nearest(word, known);
  return n ? fmt::format("; did you mean '{}'?", *n) : ".";
}

size_t known_index(const std::string& name, const std::vector<std::string>& known, std::string_view complaint,
                   std::string_view list) {
  const size_t i = index_of(known, name);
  if (i == known.size())
    fail(ErrorKind::Name, "{} '{}'{}\n  {}: {}.", complaint, name, hint(name, known), list, fmt::join(known, ", "));
  return i;
}

}  // namespace braintrace
