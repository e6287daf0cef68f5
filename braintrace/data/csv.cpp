// SPDX-License-Identifier: Apache-2.0
#include "braintrace/data/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

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

std::vector<std::string_view> cells(std::string_view line) {
  std::vector<std::string_view> out;
  for (size_t from = 0;;) {
    const size_t comma = std::min(line.find(',', from), line.size());
    out.push_back(trimmed(line.substr(from, comma - from)));
    if (comma == line.size()) return out;
    from = comma + 1;
  }
}

}  // namespace

CsvFile::CsvFile(const std::string& path) : source_(path) {
  each_line(source_, 0, [&](std::string_view line, int64_t offset) {
    if (columns_.empty()) {
      if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
      for (std::string_view cell : cells(line)) columns_.emplace_back(cell);
      return true;
    }
    if (size_++ % stride == 0) offsets_.push_back(offset);
    return true;
  });
  require(size_ > 0, "{}: expected a line of headings and at least one row of numbers, found {} lines.", path,
          columns_.empty() ? 0 : 1);
}

size_t CsvFile::column(const std::string& name) const {
  return known_index(name, columns_, path() + ": there is no column", "Columns");
}

std::vector<std::vector<double>> CsvFile::rows(int64_t from, int64_t count) const {
  require(from >= 0 && count >= 0 && count <= size_ - from, "{}: rows {} to {} were asked for; there are {}.", path(),
          from, from + count - 1, size_);
  std::vector<std::vector<double>> out;
  if (count == 0) return out;
  int64_t row = from / stride * stride;
  each_line(source_, offsets_[static_cast<size_t>(from / stride)], [&](std::string_view line, int64_t offset) {
    if (row++ < from) return true;
    std::vector<double> numbers;
    for (std::string_view cell : cells(line)) {
      double x                = 0;
      const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), x);
      if (error != std::errc{} || end != cell.data() + cell.size() || !std::isfinite(x))
        refuse(path(), offset, fmt::format("a number in row {}", row), fmt::format("'{}'", cell.substr(0, 40)));
      numbers.push_back(x);
    }
    if (numbers.size() != columns_.size())
      refuse(path(), offset, fmt::format("{} numbers in row {}", columns_.size(), row),
             fmt::format("{}", numbers.size()));
    out.push_back(std::move(numbers));
    return std::ssize(out) < count;
  });
  require(std::ssize(out) == count, "{}: the file has become shorter.", path());
  return out;
}

}  // namespace braintrace::data
