// SPDX-License-Identifier: Apache-2.0
// Tables with a line of headings. The heading tells what separates cells: commas, semicolons or tabs, whichever it has
// most of outside of quotes. A cell in quotes may hold separators, line breaks and doubled quotes. The file is read
// once to find its rows; only every 256th offset is held, and rows are parsed when asked for.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "braintrace/data/source.h"

namespace braintrace::data {

bool is_missing(std::string_view cell);  // empty, NA, NaN, null, ?

class CsvFile {
 public:
  explicit CsvFile(const std::string& path);

  const std::string&              path() const { return source_.path(); }
  const std::vector<std::string>& columns() const { return columns_; }
  int64_t                         size() const { return size_; }  // rows
  bool                            has_column(const std::string& name) const;
  // The index of a column; throws UserError with the nearest name.
  size_t column(const std::string& name) const;
  // Rows from … from+count-1. What is not a number, or a row with too few or many cells, throws UserError with its
  // line.
  std::vector<std::vector<double>> rows(int64_t from, int64_t count) const;
  // These columns of the rows, in this order; others may hold anything. A missing cell is NaN.
  std::vector<std::vector<double>> rows(int64_t from, int64_t count, const std::vector<size_t>& columns) const;
  // The cells of one column as they are, without quotes.
  std::vector<std::string> texts(int64_t from, int64_t count, size_t column) const;

 private:
  // Calls visit(row from 1, its cells, its offset) for these rows.
  void each_row(int64_t from, int64_t count,
                const std::function<void(int64_t, const std::vector<std::string_view>&, int64_t)>& visit) const;

  static constexpr int64_t stride = 256;

  Source                   source_;
  std::vector<std::string> columns_;
  std::vector<int64_t>     offsets_;  // of rows 0, stride, 2·stride, …
  int64_t                  size_      = 0;
  char                     separator_ = ',';
};

}  // namespace braintrace::data
