// SPDX-License-Identifier: Apache-2.0
// Kernels over whole arrays: products, copies of blocks, windows, convolution.
#include "braintrace/codegen/c/context.h"

namespace braintrace::codegen {

namespace {

// base + name0 * stride0 + …
std::string offset_text(const std::string& name, const Ints& strides, std::string base = "0") {
  for (size_t i = 0; i < strides.size(); ++i)
    if (strides[i]) base += fmt::format(" + {}{} * {}", name, i, strides[i]);
  return base;
}
std::string pointer(const Product::Side& s, const Context& c) {
  return fmt::format("({} + {})", c.name(s.buffer), s.at);
}

// A call of the host's product, or of the one in the file.
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
      fmt::format("{}matmul_{}({}, {}, {}, {}, {}, {});\n", c.dialect == Dialect::Native ? "f->host->" : "bt_",
                  name_of(p.dtype), rows, columns, x.k, lhs, rhs, out));
  return both ? fmt::format("for (int64_t part = begin; part < end; ++part) {{\n{}}}\n", text) : text;
}

// to[to_base + Σ i_k to_strides_k] = from[from_base + Σ i_k from_strides_k] for all i in shape
std::string copy_text(const Context& c, const Shape& shape, Var to, const std::string& to_base, const Ints& to_strides,
                      Var from, const std::string& from_base, const Ints& from_strides) {
  std::string text = fmt::format("{}[{}] = {}[{}];\n", c.name(to), offset_text("i", to_strides, to_base), c.name(from),
                                 offset_text("i", from_strides, from_base));
  for (size_t i = shape.size(); i-- > 0;)
    text = fmt::format("{3}for (int64_t i{0} = 0; i{0} < {1}; ++i{0}) {{\n{2}}}\n", i, shape[i], text,
                       i + 1 == shape.size() ? c.independent() : "");
  return "{\n" + text + "}\n";
}

}  // namespace

std::string text_of(const Product& p, const Context& c) {
  if (p.matrix) return matrix_text(p, c);
  // Any strides, any type.
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
  if (k.fill)
    out = fmt::format("for (int64_t i = 0; i < {}; ++i) {}[i] = {}[0];\n", k.size, c.name(k.out), c.name(*k.fill));
  for (const BlockCopy& b : k.blocks)
    out += copy_text(c, b.shape, b.to, str(b.to_at), b.to_strides, b.from, str(b.from_at), b.from_strides);
  return out.empty() ? ";\n" : out;
}

// The offset `at` of the block inside entry b, moved to where it fits.
std::string text_of(const DynamicBlock& k, const Context& c) {
  const Ints  strides = strides_of(k.inner), dense = strides_of(k.block);
  std::string start = "int64_t at = 0;\n";
  for (size_t i = 0; i < k.inner.size(); ++i)
    start += fmt::format("at += bt_clamp_i((int64_t){}[b * {} + {}], 0, {}) * {};\n", c.name(k.start), k.inner.size(),
                         i, k.inner[i] - k.block[i], strides[i]);
  const std::string in_x     = fmt::format("b * {} + at", size_of(k.inner)),
                    in_block = fmt::format("b * {}", size_of(k.block));
  const std::string copy     = k.writes ? copy_text(c, k.block, k.out, in_x, strides, k.update, in_block, dense)
                                        : copy_text(c, k.block, k.out, in_block, dense, k.x, in_x, strides);
  const std::string all      = fmt::format("for (int64_t b = 0; b < {}; ++b) {{\n{}{}}}\n", k.entries, start, copy);
  return k.writes ? fmt::format("memcpy({}, {}, {});\n", c.name(k.out), c.name(k.x), k.bytes) + all : all;
}

// Each element of a window at offset `at`; the result of window p.
std::string text_of(const Window& k, const Context& c) {
  const std::string x = c.name(k.x), y = c.name(k.out);
  std::string       start, each, finish;
  if (k.kind == Window::Kind::Sum) {
    start  = fmt::format("{} sum = 0;\n", sum_type(k.dtype));
    each   = fmt::format("sum += {}[at];\n", x);
    finish = fmt::format("{}[p] = ({})sum;\n", y, storage_type(k.dtype));
  } else {  // the offset of the first largest element; NaN counts as largest
    start  = "int64_t best = base;\n";
    each   = fmt::format("if ({0}[at] > {0}[best] || ({0}[at] != {0}[at] && {0}[best] == {0}[best])) best = at;\n", x);
    finish = fmt::format("{}[p] = {}[best];\n", y, x);
  }
  if (k.kind == Window::Kind::ArgMax) {
    finish = "int64_t flat = 0, scale = 1;\n";
    for (size_t i = k.from.size(); i-- > 0;) {
      if (k.window[i] != 1 || k.stride[i] != 1)
        finish += fmt::format("flat += best % {0} * scale;\nscale *= {0};\n", k.from[i]);
      finish += fmt::format("best /= {};\n", k.from[i]);
    }
    finish += fmt::format("{}[p] = flat;\n", y);
  }
  const Ints strides = strides_of(k.from);
  Ints       steps   = strides;
  for (size_t i = 0; i < steps.size(); ++i) steps[i] *= k.stride[i];
  const std::string inner =
      loops_over("k", k.window, fmt::format("const int64_t at = base + {};\n{}", offset_text("k", strides), each));
  return "int64_t p = 0;\n" + loops_over("p", k.to,
                                         fmt::format("const int64_t base = {};\n{}{}{}++p;\n", offset_text("p", steps),
                                                     start, inner, finish));
}

// Kernel positions outside, output positions inside: for each axis the range of p that reads inside x.
std::string text_of(const Convolution& k, const Context& c) {
  std::string open, close, at = "0", to = "0", weight = "0";
  for (size_t i = 0; i < k.kernel.size(); ++i) {
    open += fmt::format("for (int64_t k{0} = 0; k{0} < {1}; ++k{0}) {{\n", i, k.kernel[i]);
    close += "}";
    weight = fmt::format("({}) * {} + k{}", weight, k.kernel[i], i);
  }
  open += fmt::format("const {0} weight = ({0})kernel[{1}];\n", sum_type(k.dtype), weight);
  for (size_t i = 0; i < k.to.size(); ++i) {
    open += fmt::format(
        "for (int64_t p{0} = 0; p{0} < {1}; ++p{0}) {{\nconst int64_t q{0} = p{0} * {2} + k{0} * {3} - {4};\n", i,
        k.to[i], k.stride[i], k.rhs_dilation[i], k.lo[i]);
    open += fmt::format("if (q{0} < 0 || q{0} % {1} != 0 || q{0} / {1} >= {2}) continue;\n", i, k.lhs_dilation[i],
                        k.from[i]);
    at = fmt::format("({}) * {} + q{} / {}", at, k.from[i], i, k.lhs_dilation[i]);
    to = fmt::format("({}) * {} + p{}", to, k.to[i], i);
    close += "}";
  }
  return filled(R"(
$sum* sum = ($sum*)w;
for (int64_t i = 0; i < $N * $GO; ++i) {
  const int64_t n = i / $GO, o = i % $GO, g = o / $O;
  for (int64_t p = 0; p < $P; ++p) sum[p] = 0;
  for (int64_t c = 0; c < $C; ++c) {
    const $T* from = $x + ((n * $G + g) * $C + c) * $X;
    const $T* kernel = $k + (o * $C + c) * $K;
    $open sum[$to] += weight * ($sum)from[$at]; $close
  }
  for (int64_t p = 0; p < $P; ++p) $y[i * $P + p] = ($T)sum[p];
}
)",
                {{"sum", std::string(sum_type(k.dtype))},
                 {"N", str(k.batch)},
                 {"GO", str(k.groups * k.out)},
                 {"O", str(k.out)},
                 {"P", str(size_of(k.to))},
                 {"C", str(k.in)},
                 {"T", std::string(storage_type(k.dtype))},
                 {"x", c.name(k.x)},
                 {"G", str(k.groups)},
                 {"X", str(size_of(k.from))},
                 {"k", c.name(k.w)},
                 {"K", str(size_of(k.kernel))},
                 {"open", open},
                 {"to", to},
                 {"at", at},
                 {"close", close},
                 {"y", c.name(k.y)}});
}

}  // namespace braintrace::codegen
