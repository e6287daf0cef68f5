// SPDX-License-Identifier: Apache-2.0
#include "braintrace/io/sparse_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "braintrace/base/ascii.h"
#include "braintrace/base/error.h"
#include "braintrace/io/npy.h"

namespace braintrace {

namespace {

constexpr int64_t most = std::numeric_limits<int32_t>::max();

// Entries in the order of the file.
struct Entries {
  int64_t              rows = 0, cols = 0;
  std::vector<int64_t> row, col;
  std::vector<double>  values;
};

void check_size(const std::string& where, int64_t rows, int64_t cols, int64_t entries) {
  require(rows > 0 && cols > 0 && rows <= most && cols <= most,
          "{}: the matrix is {} by {}; expected sizes from 1 to {}.", where, rows, cols, most);
  require(entries >= 0 && entries <= most && entries <= rows * cols,
          "{}: it claims {} entries, but a matrix of {} by {} has room for {}, and at most {} are taken.", where,
          entries, rows, cols, rows * cols, most);
}

SparseFile checked(Entries&& e, const std::string& where) {
  const size_t n = e.row.size();
  for (size_t i = 0; i < n; ++i) {
    require(e.row[i] >= 0 && e.row[i] < e.rows && e.col[i] >= 0 && e.col[i] < e.cols,
            "{}: entry {} is at row {}, column {} (counted from 0), outside a matrix of {} by {}.", where, i, e.row[i],
            e.col[i], e.rows, e.cols);
    if (!e.values.empty())
      require(std::isfinite(static_cast<float>(e.values[i])),
              "{}: entry {}, at row {}, column {}, has the value {}; expected a finite number.", where, i, e.row[i],
              e.col[i], e.values[i]);
  }
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  const auto place = [&](size_t i) { return e.col[i] * e.rows + e.row[i]; };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return place(a) < place(b); });
  SparseFile out{e.rows, e.cols, {}, {}, {}};
  for (size_t k = 0; k < n; ++k) {
    const size_t i = order[k];
    require(k == 0 || place(order[k - 1]) != place(i),
            "{}: the entry at row {}, column {} (counted from 0) appears twice; sum duplicate entries before saving.",
            where, e.row[i], e.col[i]);
    out.row.push_back(static_cast<int32_t>(e.row[i]));
    out.col.push_back(static_cast<int32_t>(e.col[i]));
    if (!e.values.empty()) out.values.push_back(static_cast<float>(e.values[i]));
  }
  return out;
}

// ---- MatrixMarket

class MtxReader {
 public:
  MtxReader(const std::string& text, const std::string& where) : text_(text), where_(where) {}

  Entries read() {
    std::vector<std::string> words;
    for (std::string w; !(w = word(line())).empty();) words.push_back(lower(w));
    require(words.size() == 5 && words[0] == "%%matrixmarket" && words[1] == "matrix",
            "{}: the first line must be '%%MatrixMarket matrix coordinate FIELD SYMMETRY'.", where_);
    require(words[2] == "coordinate", "{}: its format is '{}'; only 'coordinate' is sparse.", where_, words[2]);
    require(words[3] == "real" || words[3] == "integer" || words[3] == "pattern",
            "{}: its field is '{}'; expected real, integer or pattern.", where_, words[3]);
    require(words[4] == "general" || words[4] == "symmetric",
            "{}: its symmetry is '{}'; expected general or symmetric.", where_, words[4]);
    const bool has_values = words[3] != "pattern", whole = words[3] == "integer", mirrored = words[4] == "symmetric";
    do {
      require(next_line(), "{}: the line with rows, columns and entries is missing.", where_);
    } while (line_.empty() || line_[0] == '%');
    Entries e;
    e.rows                = integer("rows");
    e.cols                = integer("columns");
    const int64_t entries = integer("entries");
    end_of_line();
    check_size(where_, e.rows, e.cols, entries);
    require(!mirrored || e.rows == e.cols, "{}: it is symmetric, but {} by {}; expected as many rows as columns.",
            where_, e.rows, e.cols);
    // A line has at least two digits, a space and an end.
    require(entries <= static_cast<int64_t>(text_.size() / 3),
            "{}: it claims {} entries, more than its {} bytes can hold.", where_, entries, text_.size());
    for (int64_t i = 0; i < entries;) {
      require(next_line(), "{}: it ends after {} of {} entries; the file is truncated.", where_, i, entries);
      if (line_.empty()) continue;
      const int64_t row = position("row", e.rows), col = position("column", e.cols);
      const double  value = !has_values ? 0 : whole ? static_cast<double>(integer("value")) : number();
      end_of_line();
      add(e, row, col, value, has_values);
      if (mirrored && row != col) add(e, col, row, value, has_values);
      ++i;
    }
    while (next_line())
      require(line_.empty(), "{}: line {}: more than the {} entries it claims.", where_, count_, entries);
    return e;
  }

 private:
  static void add(Entries& e, int64_t row, int64_t col, double value, bool has_values) {
    e.row.push_back(row);
    e.col.push_back(col);
    if (has_values) e.values.push_back(value);
  }
  static std::string lower(std::string s) {
    for (char& c : s) c = to_lower(c);
    return s;
  }

  bool next_line() {
    if (at_ >= text_.size()) return false;
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    line_            = std::string_view(text_).substr(at_, end - at_);
    while (!line_.empty() && (line_.back() == '\r' || line_.back() == ' ' || line_.back() == '\t'))
      line_.remove_suffix(1);
    at_ = end + 1;
    ++count_;
    return true;
  }
  std::string_view& line() {
    if (count_ == 0) next_line();
    return line_;
  }
  // Removes the next word from a line and returns it.
  static std::string_view next_word(std::string_view& line) {
    const size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
    const size_t end   = std::min(line.find_first_of(" \t", begin), line.size());
    const auto   w     = line.substr(begin, end - begin);
    line.remove_prefix(end);
    return w;
  }
  static std::string word(std::string_view& line) { return std::string(next_word(line)); }

  template <class T>
  T parsed(const char* what) {
    const auto  w     = next_word(line_);
    const char* begin = w.data() + (w.size() > 1 && w[0] == '+' && w[1] != '-');
    T           value{};
    const auto [end, error] = std::from_chars(begin, w.data() + w.size(), value);
    require(!w.empty() && error == std::errc() && end == w.data() + w.size(),
            "{}: line {}: expected {} ({}), got '{}'.", where_, count_,
            std::is_integral_v<T> ? "a whole number" : "a number", what, w);
    return value;
  }
  // A row or column: the file counts from 1, we count from 0.
  int64_t position(const char* what, int64_t size) {
    const int64_t at = integer(what);
    require(at >= 1 && at <= size, "{}: line {}: {} {} is outside 1 … {}.", where_, count_, what, at, size);
    return at - 1;
  }
  int64_t integer(const char* what) { return parsed<int64_t>(what); }
  double  number() { return parsed<double>("value"); }
  void    end_of_line() { require(next_word(line_).empty(), "{}: line {}: more words than expected.", where_, count_); }

  const std::string& text_;
  const std::string& where_;
  size_t             at_ = 0;
  std::string_view   line_;
  int64_t            count_ = 0;  // of lines read
};

// ---- scipy

const Array& member(const NamedArrays& all, const std::string& name, const std::string& where) {
  const auto it = all.find(name);
  require(it != all.end(), "{}: the array '{}' is missing; expected what scipy.sparse.save_npz writes.", where, name);
  require(it->second.shape().size() == 1, "{}: the array '{}' is {}; expected a vector.", where, name,
          to_string(it->second.type()));
  return it->second;
}
std::vector<int64_t> integers(const NamedArrays& all, const std::string& name, const std::string& where) {
  const Array& a = member(all, name, where);
  require(is_integer(a.dtype()), "{}: the array '{}' is {}; expected integers.", where, name, to_string(a.type()));
  const Integers v(a);
  return {v.data(), v.data() + a.size()};
}

Entries from_npz(const Buffer& file, const std::string& where) {
  NamedTexts        texts;
  const NamedArrays all    = decode_npz(file.span(), where, file.data, &texts);
  const std::string format = texts.contains("format") ? texts.at("format") : "";
  require(format == "csr" || format == "csc" || format == "coo",
          "{}: its format is '{}'; expected csr, csc or coo, as scipy.sparse.save_npz writes them.", where, format);
  const auto shape = integers(all, "shape", where);
  require(shape.size() == 2, "{}: its shape has {} sizes; expected 2.", where, shape.size());
  Entries      e{shape[0], shape[1], {}, {}, {}};
  const Array& data = member(all, "data", where);
  check_size(where, e.rows, e.cols, data.size());
  const Doubles values(data);
  e.values.assign(values.data(), values.data() + data.size());
  if (format == "coo") {
    e.row = integers(all, "row", where);
    e.col = integers(all, "col", where);
  } else {
    const bool    by_row = format == "csr";
    const auto    ends   = integers(all, "indptr", where);
    const int64_t groups = by_row ? e.rows : e.cols;
    require(static_cast<int64_t>(ends.size()) == groups + 1 && ends.front() == 0 && ends.back() == data.size() &&
                std::is_sorted(ends.begin(), ends.end()),
            "{}: indptr must be {} increasing numbers from 0 to {}.", where, groups + 1, data.size());
    std::vector<int64_t> group;
    for (int64_t g = 0; g < groups; ++g) group.insert(group.end(), static_cast<size_t>(ends[g + 1] - ends[g]), g);
    (by_row ? e.row : e.col) = std::move(group);
    (by_row ? e.col : e.row) = integers(all, "indices", where);
  }
  require(e.row.size() == e.col.size() && e.row.size() == e.values.size(),
          "{}: {} rows, {} columns and {} values; expected as many of each.", where, e.row.size(), e.col.size(),
          e.values.size());
  return e;
}

bool ends_in(const std::string& s, std::string_view end) {
  return s.size() >= end.size() && std::string_view(s).substr(s.size() - end.size()) == end;
}

}  // namespace

SparseFile decode_mtx(const std::string& text, const std::string& where) {
  return checked(MtxReader(text, where).read(), where);
}

SparseFile read_sparse(const std::string& path) {
  if (ends_in(path, ".mtx")) return decode_mtx(read_text(path), path);
  require(ends_in(path, ".npz"), "{}: expected a file that ends in .mtx or .npz.", path);
  return checked(from_npz(read_file(path), path), path);
}

}  // namespace braintrace
