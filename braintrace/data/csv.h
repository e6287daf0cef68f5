// SPDX-License-Identifier: Apache-2.0
// Tables with a header line. The separator is the most frequent of commas, semicolons and tabs in the header, outside
// of quotes. A quoted cell may contain separators, line breaks and doubled quotes. The file is read once to find its
// rows; only every 256th offset is kept, and rows are parsed on demand.
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
  // The index of a column; throws a UserError that suggests the closest name.
  size_t column(const std::string& name) const;
  // Rows from … from+count-1. A cell that is not a number, or a row with too few or too many cells, throws a UserError
  // that names the line.
  std::vector<std::vector<double>> rows(int64_t from, int64_t count) const;
  // These columns of the rows, in this order; others may hold anything. A missing cell is NaN.
  std::vector<std::vector<double>> rows(int64_t from, int64_t count, const std::vector<size_t>& columns) const;
  // The cells of one column as text, without quotes.
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
