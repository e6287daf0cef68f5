// SPDX-License-Identifier: Apache-2.0
// One row of comma-separated values (RFC 4180): a cell in quotes may contain separators and line breaks; two quotes
// inside of it are one. A quote opens a quoted cell only as its first character: 5" is ordinary text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace braintrace::data {

// Calls visit(character) for the characters outside of quotes, from index `from` on, until it returns true.
// Returns the index of the last, or npos if none returned true.
template <class Visit>
size_t find_outside_quotes(std::string_view text, size_t from, std::string_view separators, Visit visit) {
  bool quoted = false, fresh = true;
  for (size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (!quoted && visit(c)) return i;
    const bool switches = c == '"' && (quoted || fresh);
    if (switches) quoted = !quoted;
    fresh = separators.find(c) != separators.npos || (fresh && c == ' ') ||
            (switches && !quoted);  // a doubled quote opens again
  }
  return text.npos;
}

// The cells of a row, without quotes and the spaces around them. They are views of `row`, and quoted cells of
// `unquoted`; both must live as long as the cells. A quote that is not closed, or text after a closing quote, throws a
// UserError.
std::vector<std::string_view> csv_cells(std::string_view row, char separator, std::string& unquoted);

}  // namespace braintrace::data
