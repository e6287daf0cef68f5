// SPDX-License-Identifier: Apache-2.0
// C text of kernels over whole arrays: products, block copies, windows, convolution.
#include <algorithm>
#include <optional>

#include "braintrace/base/lists.h"
#include "braintrace/codegen/c/context.h"
#include "braintrace/codegen/c/elements.h"

namespace braintrace::codegen {

namespace {

std::string pointer(const Product::Side& s, const Context& c) {
  return fmt::format("({} + {})", c.name(s.buffer), s.at);
}

// Calls the host's matrix product, or the one in the emitted file.
std::string matrix_text(const Product& p, const Context& c) {
  const Product::Matrix& x          = *p.matrix;
  const bool             by_rows    = p.part_rows && p.part_rows < x.m;
  const bool             by_columns = p.part_columns && p.part_columns < x.n, both = by_rows && by_columns;
  const auto             upto = [](const std::string& part, int64_t step, int64_t size) {
    return fmt::format("({0} * {1} < {2} ? {0} * {1} : {2})", part, step, size);
  };
  const int64_t     across = both ? (x.n + p.part_columns - 1) / p.part_columns : 1;
  const std::string row =
      !by_rows ? "0" : fmt::format("{} * {}", both ? fmt::format("part / {}", across) : "begin", p.part_rows);
  const std::string bottom  = both ? fmt::format("(part / {} + 1)", across) : "end";
  const std::string rows    = by_rows ? fmt::format("{} - {}", upto(bottom, p.part_rows, x.m), row) : str(x.m);
  const std::string left    = both ? fmt::format("part % {}", across) : "begin";
  const std::string right   = both ? fmt::format("(part % {} + 1)", across) : "end";
  const std::string columns = by_columns
                                  ? fmt::format("{} * {}, {}", left, p.part_columns, upto(right, p.part_columns, x.n))
                                  : fmt::format("0, {}", x.n);
  const std::string lhs     = fmt::format("{} + {} + {} * {}, {}, {}", pointer(p.lhs, c), offset_text("b", p.lhs.batch),
                                          row, x.lhs_m, x.lhs_m, x.lhs_k);
  const std::string rhs =
      fmt::format("{} + {}, {}, {}", pointer(p.rhs, c), offset_text("b", p.rhs.batch), x.rhs_k, x.rhs_n);
  const std::string out =
      fmt::format("{} + {} + {} * {}, {}", c.name(p.out), offset_text("b", p.out_batch), row, x.n, x.n);
  const std::string text = loops_over(
      "b", p.batch,
      fmt::format("{}matmul_{}({}, {}, {}, {}, {}, {});\n", c.dialect == Dialect::Native ? "f->host->" : "@bt_",
                  name_of(p.dtype), rows, columns, x.k, lhs, rhs, out));
  return both ? fmt::format("for (int64_t part = begin; part < end; ++part) {{\n{}}}\n", text) : text;
}

// Nested copy loops. Adjacent axes that are contiguous on both sides are collapsed into one loop.
struct CopyAxis {
  int64_t size, to, from;  // to, from: strides
};
std::string packed_text(const std::vector<CopyAxis>& axes, const std::string& to, const std::string& from,
                        const Context& c) {
  std::vector<CopyAxis> list;
  for (const CopyAxis& a : axes) {
    if (a.size == 1) continue;
    if (!list.empty() && list.back().to == a.to * a.size && list.back().from == a.from * a.size)
      list.back() = {list.back().size * a.size, a.to, a.from};
    else
      list.push_back(a);
  }
  std::string to_at = "0", from_at = "0", open, close;
  for (size_t i = 0; i < list.size(); ++i) {
    open += fmt::format("{0}for (int64_t i{1} = 0; i{1} < {2}; ++i{1}) {{\n",
                        i + 1 == list.size() ? c.independent() : "", i, list[i].size);
    to_at += fmt::format(" + i{} * {}", i, list[i].to);
    from_at += fmt::format(" + i{} * {}", i, list[i].from);
    close += "}\n";
  }
  return fmt::format("{}{}[{}] = {}[{}];\n{}", open, to, to_at, from, from_at, close);
}

// A blocked product. Each part of the kernel is a block of rows; sums over several inner blocks accumulate in the
// result.
std::string blocks_text(const Product& p, const Context& c) {
  const Product::Blocks& b = *p.blocks;
  const int64_t          n = size_of(p.columns), rows = b.rows.size, inner = b.inner.size;
  const std::string      T(storage_type(p.dtype));
  // Decompose the part number into indices along the batch axes and the row axis, last axis first.
  std::string lhs = pointer(p.lhs, c), rhs = pointer(p.rhs, c), out = c.name(p.out), place = "int64_t rest = part;\n";
  for (size_t i = b.rows.axis + 1; i-- > 0;) {
    const int64_t step = i == b.rows.axis ? b.rows.step : 1;
    place += fmt::format("const int64_t m{0} = rest % {1} * {2};\nrest /= {1};\n", i, p.rows[i] / step, step);
    lhs += fmt::format(" + m{} * {}", i, p.lhs.free[i]);
    out += fmt::format(" + m{} * {}", i, strides_of(p.rows)[i] * n);
  }
  for (size_t i = p.batch.size(); i-- > 0;) {
    place += fmt::format("const int64_t b{0} = rest % {1};\nrest /= {1};\n", i, p.batch[i]);
    lhs += fmt::format(" + b{} * {}", i, p.lhs.batch[i]);
    rhs += fmt::format(" + b{} * {}", i, p.rhs.batch[i]);
    out += fmt::format(" + b{} * {}", i, p.out_batch[i]);
  }
  std::string open, close, is_first;
  for (size_t i = 0; i <= b.inner.axis; ++i) {
    const int64_t step = i == b.inner.axis ? b.inner.step : 1;
    lhs += fmt::format(" + k{} * {}", i, p.lhs.inner[i]);
    rhs += fmt::format(" + k{} * {}", i, p.rhs.inner[i]);
    open += fmt::format("for (int64_t k{0} = 0; k{0} < {1}; k{0} += {2}) {{\n", i, p.inner[i], step);
    is_first += fmt::format("{}k{} == 0", i ? " && " : "", i);
    close += "}\n";
  }
  const bool  several = inner < size_of(p.inner);
  std::string text = fmt::format("{} a[{}]{};\n", T, rows * inner, several ? fmt::format(", sum[{}]", rows * n) : "");
  // Pack the blocks.
  const auto axes_of = [](const Product::Block& block, const Shape& sizes, const Ints& strides, int64_t unit) {
    std::vector<CopyAxis> axes;
    for (size_t i = sizes.size(); i-- > block.axis;) {
      const int64_t size = i == block.axis ? block.step : sizes[i];
      axes.insert(axes.begin(), {size, unit, strides[i]});
      unit *= size;
    }
    return axes;
  };
  const auto along_rows  = axes_of(b.rows, p.rows, p.lhs.free, b.by_rows ? inner : 1);
  const auto along_inner = axes_of(b.inner, p.inner, p.lhs.inner, b.by_rows ? 1 : rows);
  open += fmt::format("const {0}* l = {1};\nconst {0}* r = {2};\n", T, lhs, rhs);
  open += packed_text(b.by_rows ? joined(along_rows, along_inner) : joined(along_inner, along_rows), "a", "l", c);
  std::string right = fmt::format("r, {}, {}", b.rhs_k.value_or(0), b.rhs_n.value_or(0));
  if (!b.rhs_k || !b.rhs_n) {
    text += fmt::format("{} b[{}];\n", T, inner * n);
    open += packed_text(joined(axes_of(b.inner, p.inner, p.rhs.inner, n),
                               axes_of({0, p.columns.empty() ? 1 : p.columns[0], n}, p.columns, p.rhs.free, 1)),
                        "b", "r", c);
    right = fmt::format("b, {}, 1", n);
  }
  text += open;
  text += fmt::format("f->host->matmul_{}({}, 0, {}, {}, a, {}, {}, {}, {}, {});\n", name_of(p.dtype), rows, n, inner,
                      b.by_rows ? inner : 1, b.by_rows ? 1 : rows, right,
                      several ? fmt::format("({}) ? y : sum", is_first) : "y", n);
  if (several)
    text += fmt::format("if (!({})) {{\n{}for (int64_t i = 0; i < {}; ++i) y[i] += sum[i];\n}}\n", is_first,
                        c.independent(), rows * n);
  return fmt::format("for (int64_t part = begin; part < end; ++part) {{\n{}{}* y = {};\n{}{}}}\n", place, T, out, text,
                     close);
}

// to[to_base + Σ i_k to_strides_k] = from[from_base + Σ i_k from_strides_k] for all i in shape
// `rows`: begin and end along the first axis; default: all.
std::string copy_text(const Context& c, const Shape& shape, Var to, const std::string& to_base, const Ints& to_strides,
                      Var from, const std::string& from_base, const Ints& from_strides,
                      const std::optional<std::pair<std::string, std::string>>& rows = {}) {
  std::string text = fmt::format("{}[{}] = {}[{}];\n", c.name(to), offset_text("i", to_strides, to_base), c.name(from),
                                 offset_text("i", from_strides, from_base));
  for (size_t i = shape.size(); i-- > 0;)
    text = fmt::format("{4}for (int64_t i{0} = {1}; i{0} < {2}; ++i{0}) {{\n{3}}}\n", i,
                       rows && i == 0 ? rows->first : "0", rows && i == 0 ? rows->second : str(shape[i]), text,
                       i + 1 == shape.size() ? c.independent() : "");
  return "{\n" + text + "}\n";
}

}  // namespace

std::string text_of(const Product& p, const Context& c) {
  if (p.matrix) return matrix_text(p, c);
  if (p.blocks) return blocks_text(p, c);
  // General case: any strides, any type.
  const auto inner = fmt::format("s += ({0}){1}[{2} + {3} + {4}] * ({0}){5}[{6} + {7} + {8}];\n", sum_type(p.dtype),
                                 pointer(p.lhs, c), offset_text("b", p.lhs.batch), offset_text("m", p.lhs.free),
                                 offset_text("k", p.lhs.inner), pointer(p.rhs, c), offset_text("b", p.rhs.batch),
                                 offset_text("n", p.rhs.free), offset_text("k", p.rhs.inner));
  const auto body  = fmt::format("{} s = 0;\n{}*y++ = ({})s;\n", sum_type(p.dtype), loops_over("k", p.inner, inner),
                                 storage_type(p.dtype));
  return fmt::format("{}* y = {};\n", storage_type(p.dtype), c.name(p.out)) +
         loops_over("b", p.batch, loops_over("m", p.rows, loops_over("n", p.columns, body)));
}

std::string text_of(const Copies& k, const Context& c) {
  std::string out;
  const bool  parts = k.rows > 0;
  const auto  bound = [&](const char* part) {
    return fmt::format("{} * {}", part, k.size / std::max<int64_t>(k.rows, 1));
  };
  if (k.fill)
    out = fmt::format("for (int64_t i = {}; i < {}; ++i) {}[i] = {}[0];\n", parts ? bound("begin") : "0",
                      parts ? bound("end") : str(k.size), c.name(k.out), c.name(*k.fill));
  // The rows of a block that belong to this part.
  const auto rows_of = [&](const BlockCopy& b) -> std::optional<std::pair<std::string, std::string>> {
    if (!parts) return {};
    if (b.row == 0 && b.shape[0] == k.rows) return std::pair("begin", "end");
    return std::pair(fmt::format("begin > {0} ? begin - {0} : 0", b.row),
                     fmt::format("(end < {0} ? end - {1} : {2})", b.row + b.shape[0], b.row, b.shape[0]));
  };
  for (const BlockCopy& b : k.blocks)
    out += copy_text(c, b.shape, b.to, str(b.to_at), b.to_strides, b.from, str(b.from_at), b.from_strides, rows_of(b));
  return out.empty() ? ";\n" : out;
}

// `at` is the offset of the block inside entry b, clamped so that the block fits.
std::string text_of(const DynamicBlock& k, const Context& c) {
  const Ints  strides = strides_of(k.inner), dense = strides_of(k.block);
  std::string start = "int64_t at = 0;\n";
  for (size_t i = 0; i < k.inner.size(); ++i)
    start += fmt::format("at += @bt_clamp_i((int64_t){}[b * {} + {}], 0, {}) * {};\n", c.name(k.start), k.inner.size(),
                         i, k.inner[i] - k.block[i], strides[i]);
  const std::string in_x     = fmt::format("b * {} + at", size_of(k.inner)),
                    in_block = fmt::format("b * {}", size_of(k.block));
  const std::string copy     = k.writes ? copy_text(c, k.block, k.out, in_x, strides, k.update, in_block, dense)
                                        : copy_text(c, k.block, k.out, in_block, dense, k.x, in_x, strides);
  const std::string all      = fmt::format("for (int64_t b = 0; b < {}; ++b) {{\n{}{}}}\n", k.entries, start, copy);
  return k.writes ? fmt::format("memcpy({}, {}, {});\n", c.name(k.out), c.name(k.x), k.bytes) + all : all;
}

std::string text_of(const Window& k, const Context& c) {
  return "int64_t p = 0;\n" + loops_over("p", k.to, window_text(k, c.name(k.out) + "[p]") + "++p;\n");
}

// Loops over kernel positions outside, over output positions inside.
std::string text_of(const Convolution& k, const Context&) {
  Words       words = words_of(k);
  std::string open, close, to = "0";
  for (size_t i = 0; i < k.kernel.size(); ++i)
    open += fmt::format("for (int64_t k{0} = 0; k{0} < {1}; ++k{0}) {{\n", i, k.kernel[i]);
  open += filled("const $sum weight = ($sum)kernel[$weight];\n", words);
  for (size_t i = 0; i < k.to.size(); ++i) {
    open += fmt::format("for (int64_t p{0} = 0; p{0} < {1}; ++p{0}) {{\n{2}", i, k.to[i], position_text(k, i));
    to = fmt::format("({}) * {} + p{}", to, k.to[i], i);
    close += "}}";
  }
  words.insert(words.end(), {{"open", open}, {"close", close}, {"to", to}});
  return filled(R"(
$sum* sum = ($sum*)w;
for (int64_t i = 0; i < $N * $GO; ++i) {
  const int64_t n = i / $GO, o = i % $GO, g = o / $O;
  for (int64_t p = 0; p < $P; ++p) sum[p] = 0;
  for (int64_t c = 0; c < $C; ++c) {
    const $T* from = $x + ((n * $G + g) * $C + c) * $X;
    const $T* kernel = $w + (o * $C + c) * $K;
    $open sum[$to] += weight * ($sum)from[$at]; $close
  }
  for (int64_t p = 0; p < $P; ++p) $y[i * $P + p] = ($T)sum[p];
}
)",
                words);
}

}  // namespace braintrace::codegen
