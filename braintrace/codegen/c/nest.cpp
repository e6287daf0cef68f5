// SPDX-License-Identifier: Apache-2.0
// Prints loop nests as C. Each element is hoisted to the outermost level at which its counters are known:
//
//   y[i,j] = exp(a[i]) * x[i,j]   →   for (i …) { t0 = exp(a[i]);  for (j …) { y[…] = t0 * x[…]; } }
#include "braintrace/codegen/c/context.h"
#include "braintrace/codegen/c/elements.h"
#include "braintrace/codegen/c/fold.h"

namespace braintrace::codegen {

namespace {

// One of the rows that an unrolled-and-jammed loop processes together.
struct Row {
  size_t  loop = 0;
  int64_t row = 0, of = 1;
};

class NestText {
 public:
  NestText(const LoopNest& nest, const Context& c) : n_(nest), c_(c), levels_(nest.levels()) {
    int number = 0;
    for (const Element& e : nest.elements) numbers_.push_back(e.kind == Element::Kind::Literal ? -1 : number++);
    for (const Reduction& r : nest.reductions) folds_.push_back(fold_text(r));
  }

  std::string text() const {
    if (n_.tiling.form == Tiling::Form::Plain) return plain();
    return n_.tiling.form == Tiling::Form::Blocks ? by_blocks() : by_lanes();
  }

 private:
  std::string counter(size_t loop) const { return "i" + str(n_.loops[loop]); }

  std::string position(const Affine& x, const Row& row) const {
    return text_of(x, [&](size_t a) {
      const bool moved = row.row > 0 && static_cast<int64_t>(a) == n_.loops[row.loop];
      return moved ? fmt::format("(i{} + {})", a, row.row) : "i" + str(a);
    });
  }

  std::string value(int32_t i, const Row& row) const {
    const Element& e = n_.elements[static_cast<size_t>(i)];
    if (e.kind == Element::Kind::Literal) return literal(e.dtype, e.literal);
    const std::string name = "t" + str(numbers_[static_cast<size_t>(i)]);
    return row.of > 1 && levels_[static_cast<size_t>(i)] > row.loop ? fmt::format("{}_{}", name, row.row) : name;
  }
  std::string definition(const Element& element, const Row& row) const {
    return element_text(
        element,
        {[&](int32_t i) { return value(i, row); }, [&](const Affine& at) { return position(at, row); },
         [&](const Element& e, const std::string& where) { return fmt::format("{}[{}]", c_.name(e.buffer), where); }});
  }
  // Elements computed once per iteration of the loops outside that level.
  std::string at_level(size_t level, const Row& row = {}) const {
    std::string out;
    for (size_t i = 0; i < n_.elements.size(); ++i)
      if (levels_[i] == level && numbers_[i] >= 0)
        out += fmt::format("const {} {} = {};\n", value_type(n_.elements[i].dtype), value(static_cast<int32_t>(i), row),
                           definition(n_.elements[i], row));
    return out;
  }
  std::string stores(const Row& row = {}) const {
    std::string out;
    for (const Store& s : n_.stores)
      out += fmt::format("{}[{}] = {};\n", c_.name(s.buffer), position(s.at, row),
                         stored(n_.elements[static_cast<size_t>(s.value)].dtype, value(s.value, row)));
    return out;
  }
  // The text for each of the rows that the loop processes together.
  template <class F>
  static std::string for_rows(size_t loop, int64_t rows, const F& text) {
    std::string out;
    for (int64_t row = 0; row < rows; ++row) out += text(Row{loop, row, rows});
    return out;
  }

  std::string sum_name(size_t k, const Row& row) const {
    return row.of > 1 && row.loop < n_.kept ? fmt::format("s{}_{}", k, row.row) : "s" + str(k);
  }
  std::string next(size_t k, const std::string& sum, const Row& row) const {
    const Reduction& r = n_.reductions[k];
    return fmt::format(
        "{} = {};\n", sum,
        filled(folds_[k].next, {{"s", sum}, {"a", value(r.a, row)}, {"b", r.b < 0 ? "" : value(r.b, row)}}));
  }
  std::string finish(size_t k, const std::string& sum, const Row& row) const {
    const Reduction& r = n_.reductions[k];
    return fmt::format("{}[{}] = {};\n", c_.name(r.buffer), position(r.at, row),
                       is_half(r.dtype) ? stored(r.dtype, sum) : fmt::format("({}){}", value_type(r.dtype), sum));
  }

  std::string loop(size_t i, const std::string& body, bool independent = false) const {
    const bool        split = i == 0 && n_.is_shared();
    const std::string rows  = n_.rows && n_.loops[i] == 0 ? rows_of_part() : "";
    return loop(i, split ? "begin" : "0", split ? "end" : end_of(i), rows + body, independent ? c_.independent() : "");
  }
  // The last part of an axis has fewer rows.
  std::string rows_of_part() const {
    const int64_t size = n_.extents[1];
    return fmt::format("const int64_t rows = {0} - {1} * i0 < {1} ? {0} - {1} * i0 : {1};\n", n_.rows, size);
  }
  bool        ends_early(size_t i) const { return n_.rows && n_.loops[i] == 1; }
  std::string end_of(size_t i) const { return ends_early(i) ? "rows" : str(n_.extent(i)); }
  std::string loop(size_t i, std::string_view from, std::string_view to, const std::string& body,
                   std::string_view note) const {
    return fmt::format("{0}for (int64_t {1} = {2}; {1} < {3}; ++{1}) {{\n{4}}}\n", note, counter(i), from, to, body);
  }
  // A loop over the columns [from, to). After whole vectors, compilers run up to 15 iterations one by one: here they
  // are a loop of eight, one of four, and at most three more.
  std::string in_vectors(size_t i, const std::string& from, const std::string& to, const std::string& body) const {
    const int64_t n = n_.extent(i), lanes = target_of(c_.dialect).lanes, rest = n % lanes;
    if (c_.dialect != Dialect::Native || n < lanes || rest < 4) return loop(i, from, to, body, c_.independent());
    std::string out = fmt::format("const int64_t whole = {0} < {1} ? {0} : {2};\n", to, n, n - rest) +
                      loop(i, from, "whole", body, c_.independent());
    std::string tail;
    int64_t     at = n - rest;
    for (const int64_t part : {lanes / 2, lanes / 4})
      if (rest & part) {
        tail += loop(i, str(at), str(at + part), body, c_.independent_and_short());
        at += part;
      }
    if (at < n) tail += loop(i, str(at), str(n), body, "");
    return fmt::format("{{\n{}if ({} == {}) {{\n{}}}\n}}\n", out, to, n, tail);
  }
  // The end of a part, which is shorter at the end of the axis.
  static std::string upto(const char* from, int64_t size, int64_t step) {
    return size % step ? fmt::format("{0} - {1} < {2} ? {0} : {1} + {2}", size, from, step)
                       : fmt::format("{} + {}", from, step);
  }

  std::string plain() const {
    if (n_.part_rows) return in_parts();
    const size_t n    = n_.loops.size();
    std::string  text = stores();
    for (size_t i = n; i-- > 0;) {
      const std::string body = at_level(i + 1) + text;
      text = i + 1 == n && i > 0 && n_.tiling.vectors == 1 ? in_vectors(i, "0", str(n_.extent(i)), body)
                                                           : loop(i, body, i + n_.tiling.vectors >= n);
    }
    return at_level(0) + text;
  }
  // Parts are blocks of rows and columns.
  std::string in_parts() const {
    const int64_t     rows = n_.part_rows, columns = n_.part_columns, across = parts_in(n_.extent(1), columns);
    const std::string text =
        loop(0, "top", "bottom", at_level(1) + loop(1, "left", "right", at_level(2) + stores(), c_.independent()), "");
    return at_level(0) + fmt::format(
                             "for (int64_t part = begin; part < end; ++part) {{\nconst int64_t top = part / {0} * {1}, "
                             "bottom = {2};\n"
                             "const int64_t left = part % {0} * {3}, right = {4};\n{5}}}\n",
                             across, rows, upto("top", n_.extent(0), rows), columns,
                             upto("left", n_.extent(1), columns), text);
  }

  // Accumulates a tile of sums in an array.
  std::string by_blocks() const {
    const Tiling& t    = n_.tiling;
    const size_t  last = n_.loops.size() - 1, first_inner = t.two_axes ? last - 1 : last;
    const int64_t n = n_.extent(last), height = t.two_axes ? n_.extent(first_inner) : 1;
    const int64_t across_blocks = (n + t.width - 1) / t.width,
                  tiles         = across_blocks * ((height + t.height - 1) / t.height);
    const auto i = counter(last), row = t.two_axes ? counter(first_inner) : std::string();
    const auto sum = [&](size_t k) {
      return t.two_axes ? fmt::format("s{}[({} - top) * {} + {} - from]", k, row, t.width, i)
                        : fmt::format("s{}[{} - from]", k, i);
    };
    const auto writes = [&](const Row& r) {
      std::string out = stores(r);
      for (size_t k = 0; k < folds_.size(); ++k) out += next(k, sum(k), r);
      return out;
    };
    std::string begin, end;
    for (size_t k = 0; k < folds_.size(); ++k) {
      begin += fmt::format("{0} s{1}[{2}] BT_ALIGNED;\nfor (int64_t j = 0; j < {2}; ++j) s{1}[j] = {3};\n",
                           folds_[k].type, k, t.width * t.height, folds_[k].start);
      end += finish(k, sum(k), {});
    }
    const auto across = [&](const std::string& known, const std::string& inner) {
      const std::string run = t.is_short ? loop(last, "from", "to", inner, c_.independent_and_short())
                                         : in_vectors(last, "from", "to", inner);
      return t.two_axes ? fmt::format("for (int64_t {0} = top; {0} < bottom; ++{0}) {{\n{1}{2}}}\n", row, known, run)
                        : run;
    };
    std::string text = across(at_level(last), at_level(last + 1) + writes({}));
    size_t      r    = first_inner;
    if (t.together > 1) {
      --r;
      const bool        rest = ends_early(r) || n_.extent(r) % t.together;
      const std::string whole =
          ends_early(r) ? fmt::format("rows / {0} * {0}", t.together) : str(n_.extent(r) / t.together * t.together);
      const auto walk = [&](const std::string& from, const std::string& to, int64_t rows) {
        return fmt::format("for (int64_t {0} = {1}; {0} < {2}; {0} += {3}) {{\n{4}{5}}}\n", counter(r), from, to, rows,
                           for_rows(r, rows, [&](const Row& x) { return at_level(last, x); }),
                           across("", for_rows(r, rows, [&](const Row& x) { return at_level(last + 1, x); }) +
                                          for_rows(r, rows, writes)));
      };
      text = walk("0", whole, t.together);
      if (rest) text += walk(whole, end_of(r), 1);
    }
    while (r-- > n_.kept) text = loop(r, at_level(r + 1) + text);
    // Without kept outer axes, the tiles are the parts of the kernel.
    text = fmt::format(
        "for (int64_t part = {0}; part < {1}; ++part) {{\nconst int64_t from = part % {2} * {3}, to = "
        "{4};\n{5}{6}{7}{8}}}\n",
        n_.kept ? "0" : "begin", n_.kept ? str(tiles) : "end", across_blocks, t.width, upto("from", n, t.width),
        t.two_axes ? fmt::format("const int64_t top = part / {} * {}, bottom = {};\n", across_blocks, t.height,
                                 upto("top", height, t.height))
                   : "",
        begin, text, across("", end));
    for (size_t k = n_.kept; k-- > 0;) text = loop(k, at_level(k + 1) + text);
    return at_level(0) + text;
  }

  // Interleaved partial sums.
  std::string by_lanes() const {
    const int64_t rows = n_.tiling.together;
    if (n_.kept == 0) return at_level(0) + sums_of_rows(1);
    const size_t at   = n_.kept - 1;
    std::string  text = loop(at, at_level(n_.kept) + sums_of_rows(1));
    if (rows > 1) {
      const bool split = at == 0;
      text             = fmt::format(
                      "int64_t {0} = {1};\nfor (; {0} + {2} <= {3}; {0} += {2}) {{\n{4}{5}}}\nfor (; {0} < {3}; ++{0}) "
                                  "{{\n{6}{7}}}\n",
                      counter(at), split ? "begin" : "0", rows, split ? "end" : str(n_.extent(at)),
                      for_rows(at, rows, [&](const Row& x) { return at_level(n_.kept, x); }), sums_of_rows(rows), at_level(n_.kept),
                      sums_of_rows(1));
    }
    for (size_t r = at; r-- > 0;) text = loop(r, at_level(r + 1) + text);
    return at_level(0) + text;
  }
  // All sums of `rows` rows.
  std::string sums_of_rows(int64_t rows) const {
    const size_t  last = n_.loops.size() - 1, outer = n_.kept ? n_.kept - 1 : 0;
    const int64_t n = n_.extent(last), width = n_.tiling.width;
    const auto    all   = [&](const auto& text) { return n_.kept ? for_rows(outer, rows, text) : text(Row{}); };
    const auto    begin = [&](const Row& x) {
      std::string out;
      for (size_t k = 0; k < folds_.size(); ++k)
        out += fmt::format("{0} {1}[{2}] BT_ALIGNED;\nfor (int lane = 0; lane < {2}; ++lane) {1}[lane] = {3};\n",
                              folds_[k].type, sum_name(k, x), width, folds_[k].start);
      return out;
    };
    const auto end = [&](const Row& x) {
      std::string out;
      for (size_t k = 0; k < folds_.size(); ++k) {
        const std::string s = sum_name(k, x);
        if (width > 1)
          out += fmt::format(
              "for (int half = {}; half; half /= 2)\nfor (int lane = 0; lane < half; ++lane) {}[lane] = {};\n",
              width / 2, s, filled(folds_[k].join, {{"s", s + "[lane]"}, {"a", s + "[lane + half]"}, {"b", ""}}));
        out += finish(k, s + "[0]", x);
      }
      return out;
    };
    const auto writes = [&](const Row& x) {
      std::string out = stores(x);
      for (size_t k = 0; k < folds_.size(); ++k) out += next(k, sum_name(k, x) + "[lane]", x);
      return out;
    };
    const auto group = [&](const std::string& from, const std::string& count) {
      return fmt::format("{4}for (int lane = 0; lane < {0}; ++lane) {{\nconst int64_t {1} = {2} + lane;\n{3}}}\n",
                         count, counter(last), from,
                         all([&](const Row& x) { return at_level(last + 1, x); }) + all(writes), c_.independent());
    };
    const bool        early = ends_early(last);
    const std::string whole = early ? fmt::format("rows / {0} * {0}", width) : str(n / width * width);
    std::string       text  = fmt::format("for (int64_t from = 0; from < {}; from += {}) {{\n{}}}\n", whole, width,
                                          group("from", str(width)));
    if (early || n % width) text += group(whole, early ? fmt::format("rows % {}", width) : str(n % width));
    for (size_t r = last; r-- > n_.kept;) text = loop(r, all([&](const Row& x) { return at_level(r + 1, x); }) + text);
    return all(begin) + text + all(end);
  }

  const LoopNest&       n_;
  const Context&        c_;
  std::vector<size_t>   levels_;   // per element
  std::vector<int>      numbers_;  // per element: the number in its name, or -1
  std::vector<FoldText> folds_;    // per reduction
};

}  // namespace

std::string text_of(const LoopNest& nest, const Context& c) { return NestText(nest, c).text(); }

}  // namespace braintrace::codegen
