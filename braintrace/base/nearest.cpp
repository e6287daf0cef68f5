// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/nearest.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/base/ascii.h"
#include "braintrace/base/error.h"
#include "braintrace/base/lists.h"

namespace braintrace {

namespace {

bool same_letter(char a, char b) { return to_lower(a) == to_lower(b); }

// Insertions, deletions, replacements and swaps of neighbors that turn a into b, upper or lower case.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> two_before(b.size() + 1), before(b.size() + 1), row(b.size() + 1);  // rows i-2, i-1, i
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(two_before, before);
    std::swap(before, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + !same_letter(a[i - 1], b[j - 1])});
      if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
        row[j] = std::min(row[j], two_before[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> nearest(const std::string& word, const std::vector<std::string>& known) {
  std::optional<std::string> best;
  // Up to a third of the letters may differ, or one of two letters; a name that shares less is a different word.
  size_t distance = 1 + std::max<size_t>(word.size() / 3, word.size() > 1 ? 1 : 0);
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
