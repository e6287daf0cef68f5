// SPDX-License-Identifier: Apache-2.0
#include "braintrace/data/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/base/error.h"
#include "braintrace/base/nearest.h"
#include "braintrace/data/csv_row.h"

namespace braintrace::data {

namespace {

constexpr int64_t piece_size = 1 << 16, longest_row = 1 << 20;

constexpr std::string_view known_separators = ",;\t";

// Spreadsheets mark UTF-8 by these bytes at the start of a file; they are not part of a column name.
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Where a row that begins at `from` ends: the first line break outside of quotes, or npos.
size_t end_of_row(std::string_view text, size_t from, std::string_view separators) {
  const size_t line = text.find('\n', from);
  if (line == text.npos || text.substr(from, line - from).find('"') == text.npos) return line;
  return find_outside_quotes(text, from, separators, [](char c) { return c == '\n'; });
}

// Calls visit(row, its offset) for the rows from `offset` on, until it returns false. Empty lines are skipped.
void each_record(const Source& source, int64_t offset, std::string_view separators,
                 const std::function<bool(std::string_view, int64_t)>& visit) {
  std::string pending;
  int64_t     start = offset;
  for (int64_t at = offset; at < source.size();) {
    const Bytes piece = source.read(at, std::min(piece_size, source.size() - at), "text");
    at += std::ssize(piece);
    pending.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    const bool last = at == source.size();
    if (last && pending.back() != '\n') pending += '\n';
    size_t done = 0;
    for (size_t end; (end = end_of_row(pending, done, separators)) != pending.npos; done = end + 1) {
      std::string_view row(pending.data() + done, end - done);
      if (row.ends_with('\r')) row.remove_suffix(1);
      if (!row.empty() && !visit(row, start + static_cast<int64_t>(done))) return;
    }
    pending.erase(0, done);
    start += static_cast<int64_t>(done);
    if (last && !pending.empty())
      refuse(source.path(), start, "a quote that ends a quoted cell", "the end of the file");
    if (std::ssize(pending) > longest_row)
      refuse(source.path(), start, fmt::format("a row of at most {} bytes", longest_row),
             "a longer one; is a quote left open?");
  }
}

char separator_of(std::string_view heading) {
  const auto count = [&](char separator) {
    size_t n = 0;
    find_outside_quotes(heading, 0, known_separators, [&](char c) { return n += c == separator, false; });
    return n;
  };
  return *std::max_element(known_separators.begin(), known_separators.end(),
                           [&](char a, char b) { return count(a) < count(b); });
}

// The cells of a row, with errors that name the file and the number of the row; the headings are row 0.
std::vector<std::string_view> cells_in(const Source& source, int64_t number, std::string_view row, char separator,
                                       std::string& unquoted) {
  try {
    return csv_cells(row, separator, unquoted);
  } catch (const UserError& error) {
    fail("{}: {}: {}", source.path(), number == 0 ? "headings" : fmt::format("row {}", number), error.what());
  }
}

}  // namespace

bool is_missing(std::string_view cell) {
  if (cell.empty() || cell == "?") return true;
  if (cell.size() > 4) return false;
  std::string word(cell);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return word == "na" || word == "nan" || word == "null";
}

CsvFile::CsvFile(const std::string& path) : source_(path) {
  int64_t first = 0;  // row
  each_record(source_, 0, known_separators, [&](std::string_view line, int64_t offset) {
    if (!columns_.empty()) {
      first = offset;
      return false;
    }
    if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
    separator_ = separator_of(line);
    std::string unquoted;
    for (std::string_view cell : cells_in(source_, 0, line, separator_, unquoted)) columns_.emplace_back(cell);
    return true;
  });
  if (first > 0)
    each_record(source_, first, {&separator_, 1}, [&](std::string_view, int64_t offset) {
      if (size_++ % stride == 0) offsets_.push_back(offset);
      return true;
    });
  require(size_ > 0, "{}: expected a line of headings and at least one row of numbers, found {} lines.", path,
          columns_.empty() ? 0 : 1);
}

bool CsvFile::has_column(const std::string& name) const {
  return std::find(columns_.begin(), columns_.end(), name) != columns_.end();
}

size_t CsvFile::column(const std::string& name) const {
  return known_index(name, columns_, path() + ": there is no column", "Columns");
}

void CsvFile::each_row(int64_t from, int64_t count,
                       const std::function<void(int64_t, const std::vector<std::string_view>&, int64_t)>& visit) const {
  require(from >= 0 && count >= 0 && count <= size_ - from, "{}: rows {} to {} were requested; there are {}.", path(),
          from, from + count - 1, size_);
  if (count == 0) return;
  int64_t       row = from / stride * stride;
  std::string   unquoted;
  const int64_t offset_of_row = offsets_[static_cast<size_t>(from / stride)];
  each_record(source_, offset_of_row, {&separator_, 1}, [&](std::string_view line, int64_t offset) {
    if (row++ < from) return true;
    const auto found = cells_in(source_, row, line, separator_, unquoted);
    if (found.size() != columns_.size())
      refuse(path(), offset, fmt::format("{} cells in row {}", columns_.size(), row), fmt::format("{}", found.size()));
    visit(row, found, offset);
    return row < from + count;
  });
  require(row >= from + count, "{}: the file became shorter.", path());
}

std::vector<std::vector<double>> CsvFile::rows(int64_t from, int64_t count) const {
  std::vector<size_t> all(columns_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  std::vector<std::vector<double>> out = rows(from, count, all);
  for (size_t i = 0; i < out.size(); ++i)
    for (size_t k = 0; k < all.size(); ++k)
      require(!std::isnan(out[i][k]), "{}: row {}, column '{}': expected a number, found none.", path(),
              from + static_cast<int64_t>(i) + 1, columns_[k]);
  return out;
}

std::vector<std::vector<double>> CsvFile::rows(int64_t from, int64_t count, const std::vector<size_t>& columns) const {
  std::vector<std::vector<double>> out;
  each_row(from, count, [&](int64_t row, const std::vector<std::string_view>& found, int64_t offset) {
    std::vector<double> numbers;
    for (size_t k : columns) {
      const std::string_view cell = found[k];
      double                 x    = std::nan("");
      if (!is_missing(cell)) {
        const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), x);
        if (error != std::errc{} || end != cell.data() + cell.size() || !std::isfinite(x))
          refuse(path(), offset, fmt::format("a number in row {}, column '{}'", row, columns_[k]),
                 fmt::format("'{}'", cell.substr(0, 40)));
      }
      numbers.push_back(x);
    }
    out.push_back(std::move(numbers));
  });
  return out;
}

std::vector<std::string> CsvFile::texts(int64_t from, int64_t count, size_t column) const {
  std::vector<std::string> out;
  each_row(from, count,
           [&](int64_t, const std::vector<std::string_view>& found, int64_t) { out.emplace_back(found[column]); });
  return out;
}

}  // namespace braintrace::data
