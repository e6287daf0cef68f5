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

namespace braintrace::data {

namespace {

constexpr int64_t piece_size = 1 << 16, longest_line = 1 << 20;

// Spreadsheets mark UTF-8 by these bytes at the head of a file; they belong to no heading.
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Calls visit(line, its offset) for the lines from `offset` on, until it returns false. Empty lines are left out.
void each_line(const Source& source, int64_t offset, const std::function<bool(std::string_view, int64_t)>& visit) {
  std::string pending;
  int64_t     start = offset;
  for (int64_t at = offset; at < source.size();) {
    const Bytes piece = source.read(at, std::min(piece_size, source.size() - at), "text");
    at += std::ssize(piece);
    pending.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    if (at == source.size() && pending.back() != '\n') pending += '\n';
    size_t done = 0;
    for (size_t end; (end = pending.find('\n', done)) != pending.npos; done = end + 1) {
      std::string_view line(pending.data() + done, end - done);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!line.empty() && !visit(line, start + static_cast<int64_t>(done))) return;
    }
    pending.erase(0, done);
    start += static_cast<int64_t>(done);
    if (std::ssize(pending) > longest_line)
      refuse(source.path(), start, fmt::format("a line of at most {} bytes", longest_line), "a longer one");
  }
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '"')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '"')) s.remove_suffix(1);
  return s;
}

std::vector<std::string_view> cells(std::string_view line, char separator) {
  std::vector<std::string_view> out;
  for (size_t from = 0;;) {
    const size_t comma = std::min(line.find(separator, from), line.size());
    out.push_back(trimmed(line.substr(from, comma - from)));
    if (comma == line.size()) return out;
    from = comma + 1;
  }
}

bool is_missing(std::string_view cell) {
  if (cell.empty() || cell == "?") return true;
  if (cell.size() > 4) return false;
  std::string word(cell);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return word == "na" || word == "nan" || word == "null";
}

}  // namespace

CsvFile::CsvFile(const std::string& path) : source_(path), separator_(path.ends_with(".tsv") ? '\t' : ',') {
  each_line(source_, 0, [&](std::string_view line, int64_t offset) {
    if (columns_.empty()) {
      if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
      for (std::string_view cell : cells(line, separator_)) columns_.emplace_back(cell);
      return true;
    }
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
  int64_t row = from / stride * stride;
  each_line(source_, offsets_[static_cast<size_t>(from / stride)], [&](std::string_view line, int64_t offset) {
    if (row++ < from) return true;
    const auto found = cells(line, separator_);
    if (found.size() != columns_.size())
      refuse(path(), offset, fmt::format("{} cells in row {}", columns_.size(), row), fmt::format("{}", found.size()));
    visit(row, found, offset);
    return row < from + count;
  });
  require(row >= from + count, "{}: the file has become shorter.", path());
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

}  // namespace braintrace::data
