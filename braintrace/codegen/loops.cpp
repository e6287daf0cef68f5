// SPDX-License-Identifier: Apache-2.0
// Fused loop nests.
//
// Counters run over the axes of the stage's space; neighbouring axes become one loop where all positions allow it.
// Every scalar is computed at the outermost level at which its counters are known. Without reductions loops run in the
// order of the axes. With them
//
//   the last axis is kept      kept axes, reduced axes, last two axes: a tile of them is summed in an array, so that
//                              memory is walked in runs of some kilobytes
//   the last axis is reduced   kept axes, reduced axes: a few interleaved sums, joined by a tree at the end
//
// so the order of every sum is fixed by the shapes alone. Some rows are taken together, which read columns once and
// keep several sums going.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "braintrace/codegen/abi.h"
#include "braintrace/codegen/kernel.h"
#include "braintrace/codegen/lower.h"
#include "braintrace/codegen/scalar.h"
#include "braintrace/codegen/view.h"

namespace braintrace::codegen {

namespace {

constexpr int64_t block = 256, tile = 2048, lanes = 16;
constexpr int64_t rows_of_sums = 4, rows_of_columns = 2;  // that are taken together
constexpr int64_t together_from = 4096;                   // elements: from here on rows are taken together
constexpr int64_t large = 65536;  // elements: smaller arrays stay in the caches, and small machines have small stacks

constexpr Key<double>  value_key{"value"};
constexpr Key<int64_t> axis_key{"axis"};
constexpr Key<Array>   array_key{"value"};

// How a reduction starts, goes on and joins partial results. $s is the sum so far, $a and $b the operands' elements.
struct FoldText {
  std::string type, start, next, join;
};

FoldText fold_of(const Eqn& e, DType t) {
  const std::string sum(sum_type(t)), value(is_float(t) ? value_type(t) : "int64_t");
  const bool        real = is_float(t);
  const std::string f    = value == "float" ? "f" : "";
  if (e.in.size() > 1) {
    if (!real) return {sum, "0", "$s + (int64_t)$a * (int64_t)$b", "$s + $a"};
    const std::string wide = t == DType::F32 ? "float" : "double";
    return {wide, "0", fmt::format("bt_fma{}(({})$a, ({})$b, $s)", t == DType::F32 ? "f" : "", wide, wide), "$s + $a"};
  }
  switch (e.op->fold) {
    case Fold::Sum:
      return {sum, "0", "$s + $a", "$s + $a"};
    case Fold::Prod:
      return {sum, "1", "$s * $a", "$s * $a"};
    case Fold::Any:
      return {"int64_t", "0", "$s | $a", "$s | $a"};
    case Fold::All:
      return {"int64_t", "1", "$s & $a", "$s & $a"};
    case Fold::Max:
    case Fold::Min:
    case Fold::None:
      break;
  }
  const bool        max  = e.op->fold == Fold::Max;
  const std::string pick = real ? fmt::format("bt_{}{}($s, $a)", max ? "max" : "min", f)
                                : fmt::format("bt_{}_i($s, $a)", max ? "max" : "min");
  return {value, real ? (max ? "-INFINITY" : "INFINITY") : (max ? "INT64_MIN" : "INT64_MAX"), pick, pick};
}

class Nest {
 public:
  Nest(const Program& p, const Stage& stage, const Vars& memory)
      : p_(p), stage_(stage), memory_(memory), producer_(producers(p)), n_(stage.space.size()) {
    kept_last_ = stage.reduced.empty() || !is_reduced(static_cast<int64_t>(n_) - 1);
    for (size_t a = 0; a < n_; ++a)
      if (!is_reduced(static_cast<int64_t>(a)) && (stage.reduced.empty() || a + 1 < n_ || !kept_last_))
        order_.push_back(static_cast<int64_t>(a));
    const bool blocked = !stage.reduced.empty() && kept_last_;
    tiled_             = blocked && !order_.empty() && order_.back() == static_cast<int64_t>(n_) - 2;
    if (tiled_) order_.pop_back();
    kept_ = order_.size();
    for (int64_t a : stage.reduced) order_.push_back(a);
    if (tiled_) order_.push_back(static_cast<int64_t>(n_) - 2);
    if (blocked) order_.push_back(static_cast<int64_t>(n_) - 1);
  }

  Kernel kernel() {
    collecting_ = true;
    compute();
    merge_axes();
    collecting_ = false;
    memo_.clear();
    temps_ = 0;
    levels_.assign(order_.size() + 1, "");
    compute();
    Kernel k;
    k.body = stage_.reduced.empty() ? plain() : kept_last_ ? by_blocks() : by_lanes();
    k.work = size_of(stage_.space);
    if (splits()) share_rows_of_large_array(k);
    k.count = splits() ? extent(order_[0]) : !stage_.reduced.empty() && kept_last_ ? blocks() * row_blocks() : 1;
    return k;
  }

 private:
  struct Sum {
    const Eqn*  eqn;
    FoldText    fold;
    std::string a, b;  // elements of the operands
  };
  struct Scalar {
    std::string text;
    size_t      level;
  };

  bool is_reduced(int64_t axis) const {
    return std::find(stage_.reduced.begin(), stage_.reduced.end(), axis) != stage_.reduced.end();
  }
  int64_t extent(int64_t axis) const { return extents_[axis]; }
  // Where blocks are all that threads can share, there are more of them.
  int64_t block_width() const {
    const bool shared = kept_ == 0 && !tiled_ && size_of(stage_.space) >= shared_elements;
    return std::clamp<int64_t>(extent(order_.back()), 1, shared ? block / 4 : block);
  }
  int64_t blocks() const { return (extent(order_.back()) + block_width() - 1) / block_width(); }
  int64_t rows() const { return tiled_ ? extent(order_[order_.size() - 2]) : 1; }
  int64_t tile_rows() const {
    return size_of(stage_.space) < large ? 1 : std::clamp<int64_t>(tile / block_width(), 1, rows());
  }
  int64_t row_blocks() const { return (rows() + tile_rows() - 1) / tile_rows(); }
  bool    splits() const { return !order_.empty() && kept_ > 0; }

  // When the outermost loop walks rows of a large array, they are shared as everywhere.
  void share_rows_of_large_array(Kernel& k) const {
    for (const auto& [size, at] : large_reads_) {
      const int64_t row = at.c[order_[0]];
      if (row <= 0 || size % row || at.k % row || at.k / row + extent(order_[0]) > size / row) continue;
      k.first = at.k / row;
      k.whole = size / row;
      k.work  = std::max(k.work, shared_elements);
      return;
    }
  }

  // Joins the loops of neighbouring axes where every position is the same function of both: the counter of the inner
  // axis then runs over both.
  void merge_axes() {
    extents_   = stage_.space;
    Ints first = order_;  // by loop: the outermost of its axes
    for (size_t i = order_.size(); i-- > 1;) {
      const int64_t outer = order_[i - 1], inner = order_[i], next = first[i];
      const bool    blocked = !stage_.reduced.empty() && kept_last_ && i + (tiled_ ? 2 : 1) >= order_.size();
      const int64_t size    = stage_.space[next];
      const auto    same    = [&](const Affine& x) { return x.c[outer] == x.c[next] * size; };
      const bool    alike   = std::all_of(positions_.begin(), positions_.end(), same);
      if (next != outer + 1 || i == kept_ || blocked || !alike) continue;
      extents_[inner] *= extents_[outer];
      dropped_.push_back(outer);
      first[i] = first[i - 1];
      first.erase(first.begin() + static_cast<int64_t>(i) - 1);
      order_.erase(order_.begin() + static_cast<int64_t>(i) - 1);
      if (i < kept_) --kept_;
    }
  }

  std::string counter(int64_t axis) const { return "i" + str(axis); }
  std::string text_of(const Affine& x) const {
    std::string out;
    for (size_t a = 0; a < x.c.size(); ++a) {
      if (x.c[a] == 0 || std::find(dropped_.begin(), dropped_.end(), static_cast<int64_t>(a)) != dropped_.end())
        continue;
      out += (out.empty() ? "" : " + ") + (x.c[a] == 1 ? "" : str(x.c[a]) + " * ") + counter(static_cast<int64_t>(a));
    }
    if (x.k != 0 || out.empty()) out += (out.empty() ? "" : " + ") + str(x.k);
    return out;
  }
  size_t level_of(const Affine& x) const {
    size_t level = 0;
    for (size_t i = 0; i < order_.size(); ++i)
      if (x.c[order_[i]] != 0) level = i + 1;
    return level;
  }

  Scalar position(const Affine& x) {
    if (collecting_) positions_.push_back(x);
    return {text_of(x), level_of(x)};
  }

  Scalar named(DType t, const std::string& text, size_t level) {
    const std::string name = "t" + str(temps_++);
    if (!collecting_) levels_[level] += fmt::format("const {} {} = {};\n", value_type(t), name, text);
    if (!collecting_) names_.emplace(name, level);
    return {name, level};
  }

  // The element of v at an index.
  Scalar element(Var v, const Index& index) {
    const auto key = std::make_pair(v, index);
    if (const auto it = memo_.find(key); it != memo_.end()) return it->second;
    const Scalar s = fresh_element(v, index);
    memo_.emplace(key, s);
    return s;
  }
  Scalar fresh_element(Var v, const Index& index) {
    const Type&   type = p_.type(v);
    const int32_t made = producer_[v];
    if (made >= 0) {
      const Eqn& e = p_.eqns[made];
      if (e.op->name == "full") return {literal(type.dtype, e.attrs[value_key]), 0};
      if (e.op->name == "constant" && type.size() == 1 && type.dtype != DType::I64)
        return {literal(type.dtype, at(e.attrs[array_key], 0)), 0};
      if (e.op->name == "iota") {
        const Scalar s = position(index[e.attrs[axis_key]]);
        return named(type.dtype, converted(DType::I64, type.dtype, "((int64_t)(" + s.text + "))"), s.level);
      }
      if (is_view(*e.op))
        if (const auto deeper = seen(e, p_, index, n_)) return element(e.in[0], *deeper);
      if (has_expression(*e.op) && std::find(stage_.eqns.begin(), stage_.eqns.end(), made) != stage_.eqns.end()) {
        std::vector<std::string> operands;
        size_t                   level = 0;
        for (Var x : e.in) {
          const Scalar s = element(x, index);
          operands.push_back(s.text);
          level = std::max(level, s.level);
        }
        return named(type.dtype, expression(*e.op, p_.type(e.in[0]).dtype, type.dtype, operands), level);
      }
    }
    ensure(memory_[v] >= 0, "codegen: value {} is read but has no memory", v);
    const Affine from = offset(index, type.shape, n_);
    if (collecting_ && type.size() >= shared_elements) large_reads_.emplace_back(type.size(), from);
    const Scalar at = position(from);
    return named(type.dtype, loaded(type.dtype, fmt::format("v{}[{}]", memory_[v], at.text)), at.level);
  }

  // Elements of all stores and reductions; fills the levels.
  void compute() {
    stores_.clear();
    sums_.clear();
    for (Var v : stage_.writes) {
      const Eqn&  e     = p_.eqns[producer_[v]];
      const Index index = natural_index(is_reduction(e) ? p_.type(e.in[0]).shape : p_.type(v).shape);
      if (is_reduction(e) && !stage_.reduced.empty()) {
        Sum s{&e, fold_of(e, p_.type(v).dtype), element(e.in[0], index).text, ""};
        if (e.in.size() > 1) s.b = element(e.in[1], index).text;
        position(sum_position(e));
        sums_.push_back(std::move(s));
        continue;
      }
      Scalar x = is_reduction(e) ? element(e.in[0], index) : element(v, index);
      if (is_reduction(e) && e.in.size() > 1) x.text = fmt::format("({} * {})", x.text, element(e.in[1], index).text);
      const Scalar at = position(offset(natural_index(p_.type(v).shape), p_.type(v).shape, n_));
      stores_ += fmt::format("v{}[{}] = {};\n", v, at.text, stored(p_.type(v).dtype, x.text));
    }
  }

  // Where the result of a reduction lies, in the counters of the kept axes.
  Affine sum_position(const Eqn& e) const {
    const Shape& shape = p_.type(e.out[0]).shape;
    const Ints   axes  = long_axes(shape);
    Index        index(shape.size(), braintrace::codegen::constant(n_, 0));
    size_t       k = 0;
    for (size_t a = 0; a < n_; ++a)
      if (!is_reduced(static_cast<int64_t>(a))) index[axes[k++]].c[a] = 1;
    return offset(index, shape, n_);
  }

  std::string loop(size_t i, const std::string& body, bool independent) const {
    const int64_t a     = order_[i];
    const bool    split = i == 0 && splits();
    return fmt::format("{}for (int64_t {} = {}; {} < {}; ++{}) {{\n{}}}\n", independent ? "BT_INDEPENDENT\n" : "",
                       counter(a), split ? "begin" : "0", counter(a), split ? "end" : str(extent(a)), counter(a), body);
  }

  std::string plain() const {
    // A short loop is unrolled, and the one around it becomes vector code.
    const size_t n = order_.size(), wide = n > 1 && extent(order_[n - 1]) <= 4 ? n - 2 : n - 1;
    std::string  text = stores_;
    for (size_t i = n; i-- > 0;) text = loop(i, levels_[i + 1] + text, i >= wide);
    return levels_[0] + text;
  }

  // The text once for each of so many rows that loop i takes together; what is made inside has a name for each.
  std::string for_rows(int64_t rows, size_t i, std::string_view text) const {
    std::string out;
    for (int64_t row = 0; row < rows; ++row)
      for (size_t at = 0, end = 0; at < text.size(); at = end) {
        while (end < text.size() && is_word(text[end])) ++end;
        const std::string word(text.substr(at, end - at));
        const auto        scalar = names_.find(word);
        const bool is_sum = word.size() > 1 && word[0] == 's' && word.find_first_not_of("0123456789", 1) == word.npos;
        out += word;
        if (word == counter(order_[i]) && row > 0)
          out.replace(out.size() - word.size(), word.size(), fmt::format("({} + {})", word, row));
        else if (rows > 1 && ((scalar != names_.end() && scalar->second > i) || (is_sum && i < kept_)))
          out += fmt::format("_{}", row);
        while (end < text.size() && !is_word(text[end])) out += text[end++];
      }
    return out;
  }

  std::string next(const Sum& s, const std::string& acc) const {
    return fmt::format("{} = {};\n", acc, filled(s.fold.next, {{"s", acc}, {"a", s.a}, {"b", s.b}}));
  }
  std::string finish(const Sum& s, const std::string& acc) const {
    const Var   v = s.eqn->out[0];
    const DType t = p_.type(v).dtype;
    return fmt::format("v{}[{}] = {};\n", v, text_of(sum_position(*s.eqn)),
                       is_plain(t) ? fmt::format("({}){}", value_type(t), acc) : stored(t, acc));
  }

  std::string by_blocks() const {
    const size_t  last = order_.size() - 1, first_inner = tiled_ ? last - 1 : last;
    const int64_t n = extent(order_[last]), width = block_width(), height = tile_rows();
    const auto    i      = counter(order_[last]);
    const auto    row    = tiled_ ? counter(order_[first_inner]) : std::string();
    std::string   writes = stores_, begin, end;
    for (size_t k = 0; k < sums_.size(); ++k) {
      const std::string acc = tiled_ ? fmt::format("s{}[({} - top) * {} + {} - from]", k, row, width, i)
                                     : fmt::format("s{}[{} - from]", k, i);
      writes += next(sums_[k], acc);
      begin += fmt::format("{} s{}[{}];\nfor (int64_t j = 0; j < {}; ++j) s{}[j] = {};\n", sums_[k].fold.type, k,
                           width * height, width * height, k, sums_[k].fold.start);
      end += finish(sums_[k], acc);
    }
    const auto across = [&](const std::string& known, const std::string& inner) {
      const std::string run =
          fmt::format("BT_INDEPENDENT\nfor (int64_t {0} = from; {0} < to; ++{0}) {{\n{1}}}\n", i, inner);
      return tiled_ ? fmt::format("for (int64_t {0} = top; {0} < bottom; ++{0}) {{\n{1}{2}}}\n", row, known, run) : run;
    };
    const auto upto = [](const char* from, int64_t size, int64_t step) {
      return size % step ? fmt::format("{0} - {1} < {2} ? {0} : {1} + {2}", size, from, step)
                         : fmt::format("{} + {}", from, step);
    };
    std::string text = across(levels_[last], levels_[last + 1] + writes);
    size_t      r    = first_inner;
    if (!tiled_ && r > kept_ && size_of(stage_.space) >= together_from) {
      const auto    by    = counter(order_[--r]);
      const int64_t whole = extent(order_[r]) / rows_of_columns * rows_of_columns;
      const auto    walk  = [&](int64_t from, int64_t to, int64_t rows) {
        return fmt::format("for (int64_t {0} = {1}; {0} < {2}; {0} += {3}) {{\n{4}{5}}}\n", by, from, to, rows,
                               for_rows(rows, r, levels_[last]),
                               across("", for_rows(rows, r, levels_[last + 1]) + for_rows(rows, r, writes)));
      };
      text = walk(0, whole, rows_of_columns);
      if (whole < extent(order_[r])) text += walk(whole, extent(order_[r]), 1);
    }
    while (r-- > kept_) text = loop(r, levels_[r + 1] + text, false);
    // Without kept axes outside, the tiles are the parts.
    text = fmt::format(
        "for (int64_t part = {0}; part < {1}; ++part) {{\nconst int64_t from = part % {2} * {3}, to = "
        "{4};\n{5}{6}{7}{8}}}\n",
        kept_ ? "0" : "begin", kept_ ? str(blocks() * row_blocks()) : "end", blocks(), width, upto("from", n, width),
        tiled_ ? fmt::format("const int64_t top = part / {} * {}, bottom = {};\n", blocks(), height,
                             upto("top", rows(), height))
               : "",
        begin, text, across("", end));
    for (size_t r = kept_; r-- > 0;) text = loop(r, levels_[r + 1] + text, false);
    return levels_[0] + text;
  }

  std::string by_lanes() const {
    const size_t  last = order_.size() - 1;
    const int64_t n = extent(order_[last]), width = n < 2 * lanes ? 1 : lanes;
    const auto    i      = counter(order_[last]);
    std::string   writes = stores_, begin, end;
    for (size_t k = 0; k < sums_.size(); ++k) {
      const Sum& s = sums_[k];
      writes += next(s, fmt::format("s{}[lane]", k));
      begin += fmt::format("{} s{}[{}];\nfor (int lane = 0; lane < {}; ++lane) s{}[lane] = {};\n", s.fold.type, k,
                           width, width, k, s.fold.start);
      if (width > 1)
        end += fmt::format(
            "for (int half = {}; half; half /= 2)\nfor (int lane = 0; lane < half; ++lane) {} = {};\n", width / 2,
            fmt::format("s{}[lane]", k),
            filled(s.fold.join,
                   {{"s", fmt::format("s{}[lane]", k)}, {"a", fmt::format("s{}[lane + half]", k)}, {"b", ""}}));
      end += finish(s, fmt::format("s{}[0]", k));
    }
    // All sums of so many rows.
    const auto rows_text = [&](int64_t rows) {
      const auto all   = [&](const std::string& text) { return kept_ ? for_rows(rows, kept_ - 1, text) : text; };
      const auto group = [&](const std::string& from, int64_t count) {
        return fmt::format(
            "BT_INDEPENDENT\nfor (int lane = 0; lane < {}; ++lane) {{\nconst int64_t {} = {} + lane;\n{}}}\n", count, i,
            from, all(levels_[last + 1]) + all(writes));
      };
      std::string text = fmt::format("for (int64_t from = 0; from < {}; from += {}) {{\n{}}}\n", n / width * width,
                                     width, group("from", width));
      if (n % width) text += group(str(n / width * width), n % width);
      for (size_t r = last; r-- > kept_;) text = loop(r, all(levels_[r + 1]) + text, false);
      return all(begin) + text + all(end);
    };
    if (kept_ == 0) return levels_[0] + rows_text(1);
    const int64_t rows = size_of(stage_.space) < together_from ? 1 : rows_of_sums;
    const size_t  at   = kept_ - 1;
    std::string   text = loop(at, levels_[kept_] + rows_text(1), false);
    if (rows > 1) {
      const auto by    = counter(order_[at]);
      const bool split = at == 0 && splits();
      const auto to    = split ? std::string("end") : str(extent(order_[at]));
      text             = fmt::format(
                      "int64_t {0} = {1};\nfor (; {0} + {2} <= {3}; {0} += {2}) {{\n{4}{5}}}\nfor (; {0} < {3}; ++{0}) "
                                  "{{\n{6}{7}}}\n",
                      by, split ? "begin" : "0", rows, to, for_rows(rows, at, levels_[kept_]), rows_text(rows), levels_[kept_],
                      rows_text(1));
    }
    for (size_t r = at; r-- > 0;) text = loop(r, levels_[r + 1] + text, false);
    return levels_[0] + text;
  }

  const Program&                          p_;
  const Stage&                            stage_;
  const Vars&                             memory_;
  std::vector<int32_t>                    producer_;
  size_t                                  n_;
  bool                                    kept_last_ = true, collecting_ = false;
  bool                                    tiled_ = false;  // sums are held for a tile of the last two axes
  Ints                                    order_;          // axes with a loop of their own, outermost first
  size_t                                  kept_ = 0;       // how many of them, from the front, run outside the sums
  Shape                                   extents_;
  Ints                                    dropped_;
  std::vector<Affine>                     positions_;
  std::vector<std::pair<int64_t, Affine>> large_reads_;  // size of the array, position of the element
  std::map<std::pair<Var, Index>, Scalar> memo_;
  std::vector<std::string>                levels_;
  std::map<std::string, size_t>           names_;  // of scalars, with their levels
  int                                     temps_ = 0;
  std::string                             stores_;
  std::vector<Sum>                        sums_;
};

}  // namespace

Kernel loop_kernel(const Program& p, const Stage& stage, const Vars& memory) { return Nest(p, stage, memory).kernel(); }

}  // namespace braintrace::codegen
