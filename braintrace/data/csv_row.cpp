// SPDX-License-Identifier: Apache-2.0
#include "braintrace/data/csv_row.h"

#include <algorithm>

#include "braintrace/base/ascii.h"
#include "braintrace/base/error.h"

namespace braintrace::data {

std::vector<std::string_view> csv_cells(std::string_view row, char separator, std::string& unquoted) {
  std::vector<std::string_view> out;
  unquoted.clear();
  unquoted.reserve(row.size());  // so that views into it stay valid
  for (size_t from = 0;;) {
    const size_t first = std::min(row.find_first_not_of(' ', from), row.size());
    size_t       end   = std::min(row.find(separator, from), row.size());
    if (first < row.size() && row[first] == '"') {
      const size_t begin = unquoted.size();
      size_t       i     = first + 1;
      for (; i < row.size(); ++i) {
        if (row[i] == '"' && !row.substr(i + 1).starts_with('"')) break;
        if (row[i] == '"') ++i;
        unquoted += row[i];
      }
      require(i < row.size(), "the quote that opens cell {} is not closed.", out.size() + 1);
      end                         = std::min(row.find(separator, i), row.size());
      const std::string_view rest = trimmed(row.substr(i + 1, end - i - 1));
      require(rest.empty(), "cell {} has '{}' after its closing quote; write a quote inside of quotes twice.",
              out.size() + 1, rest.substr(0, 40));
      out.emplace_back(std::string_view(unquoted).substr(begin));
    } else {
      out.push_back(trimmed(row.substr(from, end - from)));
    }
    if (end == row.size()) return out;
    from = end + 1;
  }
}

}  // namespace braintrace::data
