// SPDX-License-Identifier: Apache-2.0
#include "braintrace/data/series.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/base/ascii.h"
#include "braintrace/base/error.h"
#include "braintrace/io/file.h"

namespace braintrace::data {

namespace {

using Texts = std::vector<std::string_view>;

Texts parted(std::string_view s, std::string_view by) {
  Texts out;
  for (size_t from = 0;;) {
    const size_t end = std::min(s.find(by, from), s.size());
    out.push_back(trimmed(s.substr(from, end - from)));
    if (end == s.size()) return out;
    from = end + by.size();
  }
}
Texts words(std::string_view s) {
  Texts out;
  for (std::string_view w : parted(s, " "))
    if (!w.empty()) out.push_back(w);
  return out;
}

std::string lower(std::string_view s) {
  std::string out(s);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return out;
}

// The lines of a file; a place in it names the line.
class SeriesReader {
 public:
  explicit SeriesReader(const std::string& path) : text_(read_text(path)) {
    out_.path = path;
    if (text_.starts_with("\xEF\xBB\xBF")) text_.erase(0, 3);
  }

  SeriesFile read() {
    const std::string suffix = lower(std::string_view(out_.path).substr(out_.path.find_last_of('.') + 1));
    const bool        ts = suffix == "ts", arff = suffix == "arff", tsv = suffix == "tsv" || suffix == "txt";
    require(ts || arff || tsv, "{}: expected a name that ends in .ts, .arff or .tsv.", out_.path);
    in_data_ = tsv;
    for (std::string_view line : parted(text_, "\n")) {
      ++line_;
      if (line.empty() || line.front() == '#' || line.front() == '%') continue;
      if (!in_data_)
        ts ? read_key(line) : read_attribute(line);
      else
        ts ? read_ts(line) : arff ? read_arff(line) : read_tsv(line);
    }
    require(in_data_ && !out_.series.empty(), "{}: there is no series after @data.", out_.path);
    if (tsv) name_classes();
    return std::move(out_);
  }

 private:
  template <class... A>
  [[noreturn]] void refuse(fmt::format_string<A...> words, A&&... args) const {
    fail("{}: line {}: {}", out_.path, line_, fmt::format(words, std::forward<A>(args)...));
  }

  void read_key(std::string_view line) {
    const Texts found = words(line);
    const auto  key   = lower(found[0]);
    const bool  on    = found.size() > 1 && lower(found[1]) == "true";
    if (key == "@data") in_data_ = true;
    if (key == "@timestamps") timestamps_ = on;
    if (key == "@targetlabel") numbers_ = on;
    if (key != "@classlabel") return;
    if (!on) refuse("there are no labels; a task needs them.");
    for (size_t i = 2; i < found.size(); ++i) out_.classes.emplace_back(found[i]);
  }

  void read_attribute(std::string_view line) {
    const auto key = lower(words(line)[0]);
    if (key == "@data") {
      in_data_ = true;
      require(!out_.classes.empty(), "{}: there is no attribute {{A,B}} that names the classes.", out_.path);
    }
    if (key != "@attribute") return;
    relational_       = relational_ || lower(line).ends_with("relational");
    const size_t open = line.find('{'), close = line.rfind('}');
    if (open == line.npos || close == line.npos || close < open) return;
    out_.classes.clear();
    for (std::string_view name : parted(line.substr(open + 1, close - open - 1), ",")) out_.classes.emplace_back(name);
  }

  float number(std::string_view cell) const {
    if (timestamps_) {  // (time,value): the time is not used
      const size_t comma = cell.rfind(',');
      if (comma == cell.npos || !cell.ends_with(')')) refuse("expected (time,value), found '{}'.", cell.substr(0, 40));
      cell = trimmed(cell.substr(comma + 1, cell.size() - comma - 2));
    }
    if (cell == "?" || lower(cell) == "nan") return std::nanf("");
    if (cell.starts_with('+')) cell.remove_prefix(1);
    double x             = 0;
    const auto [end, ec] = std::from_chars(cell.data(), cell.data() + cell.size(), x);
    if (ec != std::errc() || end != cell.data() + cell.size() || !std::isfinite(x))
      refuse("expected a number, found '{}'.", cell.substr(0, 40));
    return static_cast<float>(x);
  }

  // Dimensions of one series, each a list of values, become [length, dimensions].
  void add(const std::vector<Texts>& dimensions, std::string_view label) {
    Series       s;
    const size_t n = dimensions.size(), T = dimensions[0].size();
    if (out_.series.empty()) out_.dimensions = static_cast<int64_t>(n);
    if (n != static_cast<size_t>(out_.dimensions)) refuse("expected {} dimensions, found {}.", out_.dimensions, n);
    s.line = line_;
    s.values.resize(n * T);
    for (size_t d = 0; d < n; ++d) {
      if (dimensions[d].size() != T)
        refuse("dimension {} has {} values, dimension 0 has {}; pad the shorter with '?'.", d, dimensions[d].size(), T);
      for (size_t t = 0; t < T; ++t) s.values[t * n + d] = number(dimensions[d][t]);
    }
    if (numbers_) {
      const bool stamped = std::exchange(timestamps_, false);
      s.value            = number(label);
      timestamps_        = stamped;
    } else {
      s.label = class_of(label);
    }
    out_.series.push_back(std::move(s));
  }

  int32_t class_of(std::string_view label) {
    const auto it = std::find(out_.classes.begin(), out_.classes.end(), label);
    if (it != out_.classes.end()) return static_cast<int32_t>(it - out_.classes.begin());
    if (!unnamed_) refuse("expected one of the classes {}, found '{}'.", fmt::join(out_.classes, ", "), label);
    out_.classes.emplace_back(label);
    return static_cast<int32_t>(out_.classes.size()) - 1;
  }

  void read_ts(std::string_view line) {
    if (!numbers_ && out_.classes.empty()) refuse("expected @classLabel or @targetlabel before @data.");
    Texts parts = timestamps_ ? stamped_parts(line) : parted(line, ":");
    if (parts.size() < 2) refuse("expected values and a label after ':', found no ':'.");
    const std::string_view label = parts.back();
    parts.pop_back();
    std::vector<Texts> dimensions;
    for (std::string_view p : parts) dimensions.push_back(timestamps_ ? stamps_of(p) : parted(p, ","));
    add(dimensions, label);
  }
  // Times may hold ':' and pairs hold ',': only those outside of brackets divide.
  static Texts outside(std::string_view line, char by) {
    Texts  out;
    size_t from = 0, depth = 0;
    for (size_t i = 0; i < line.size(); ++i) {
      depth += line[i] == '(' ? 1 : 0;
      depth -= line[i] == ')' && depth > 0 ? 1 : 0;
      if (line[i] != by || depth > 0) continue;
      out.push_back(trimmed(line.substr(from, i - from)));
      from = i + 1;
    }
    out.push_back(trimmed(line.substr(from)));
    return out;
  }
  static Texts stamped_parts(std::string_view line) { return outside(line, ':'); }
  static Texts stamps_of(std::string_view part) { return outside(part, ','); }

  void read_arff(std::string_view line) {
    const size_t comma = line.rfind(',');
    if (comma == line.npos) refuse("expected values and a class, found no ','.");
    std::string_view values = trimmed(line.substr(0, comma)), label = trimmed(line.substr(comma + 1));
    if (label.size() > 1 && label.front() == '\'' && label.back() == '\'') label = label.substr(1, label.size() - 2);
    std::vector<Texts> dimensions;
    if (relational_) {
      if (values.size() < 2 || (values.front() != '\'' && values.front() != '"') || values.back() != values.front())
        refuse("expected the quoted values of a relational attribute.");
      values = values.substr(1, values.size() - 2);
      for (std::string_view d : parted(values, "\\n")) dimensions.push_back(parted(d, ","));
    } else {
      dimensions.push_back(parted(values, ","));
    }
    add(dimensions, label);
  }

  void read_tsv(std::string_view line) {
    Texts cells = parted(line, line.find('\t') != line.npos ? "\t" : line.find(',') != line.npos ? "," : "  ");
    std::erase_if(cells, [](std::string_view c) { return c.empty(); });
    if (cells.size() < 2) refuse("expected a label and values, found {} cells.", cells.size());
    const std::string_view label = cells.front();
    cells.erase(cells.begin());
    unnamed_ = true;
    add({cells}, label);
  }

  // Classes without a list have the order of their names, so that files of one set agree.
  void name_classes() {
    std::vector<std::string> sorted = out_.classes;
    std::sort(sorted.begin(), sorted.end(), [](const std::string& a, const std::string& b) {
      return std::pair(a.size(), a) < std::pair(b.size(), b);
    });
    for (Series& s : out_.series)
      s.label = static_cast<int32_t>(
          std::find(sorted.begin(), sorted.end(), out_.classes[static_cast<size_t>(s.label)]) - sorted.begin());
    out_.classes = sorted;
  }

  std::string text_;
  SeriesFile  out_;
  int64_t     line_    = 0;
  bool        in_data_ = false, timestamps_ = false, numbers_ = false, relational_ = false, unnamed_ = false;
};

}  // namespace

SeriesFile read_series(const std::string& path) { return SeriesReader(path).read(); }

}  // namespace braintrace::data
