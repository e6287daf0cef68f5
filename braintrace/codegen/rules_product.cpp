// SPDX-License-Identifier: Apache-2.0
// Matrix products, convolution, sparse products.
#include <fmt/format.h>

#include "braintrace/codegen/kernel.h"
#include "braintrace/codegen/view.h"
#include "braintrace/ops/axes.h"

namespace braintrace::codegen {

namespace {

constexpr Key<Ints> lhs_contract{"lhs_contract"}, rhs_contract{"rhs_contract"}, lhs_batch{"lhs_batch"},
    rhs_batch{"rhs_batch"};
constexpr Key<Ints> stride_key{"stride"}, lo_key{"lo"}, lhs_dilation_key{"lhs_dilation"},
    rhs_dilation_key{"rhs_dilation"};
constexpr int64_t      rows_of_part = 64;
constexpr Key<int64_t> groups_key{"groups"}, size_key{"size"};

// An operand as it lies in memory: transposes and the like are folded into the strides.
struct Strided {
  std::string pointer;
  Ints        strides;
};

Strided strided(const Site& s, size_t operand) {
  const auto   producer = producers(s.p);
  const Shape& shape    = s.in_type(operand).shape;
  const size_t n        = shape.size();
  Index        index(n, constant(n, 0));
  for (size_t i = 0; i < n; ++i) index[i].c[i] = 1;
  Var v = s.e.in[operand];
  while (producer[v] >= 0 && is_view(*s.p.eqns[producer[v]].op)) {
    const Eqn& e      = s.p.eqns[producer[v]];
    auto       deeper = seen(e, s.p, index, n);
    if (!deeper) break;
    index = std::move(*deeper);
    v     = e.in[0];
  }
  const Affine at = offset(index, s.p.type(v).shape, n);
  return {fmt::format("({} + {})", s.pointer(v), at.k), at.c};
}

// A group of axes walked as one: its size and stride, when neighbours are contiguous.
struct Joined {
  int64_t size = 1, stride = 0;
  bool    ok = true;
};
Joined joined_axes(const Shape& shape, const Ints& strides, const Ints& axes) {
  Joined j;
  for (size_t k = axes.size(); k-- > 0;) {
    const int64_t a = axes[k];
    if (shape[a] == 1) continue;
    if (j.size == 1)
      j.stride = strides[a];
    else if (strides[a] != j.stride * j.size)
      j.ok = false;
    j.size *= shape[a];
  }
  return j;
}

Ints others(int rank, const Ints& a, const Ints& b) {
  Ints out;
  for (int i = 0; i < rank; ++i)
    if (!contains(a, i) && !contains(b, i)) out.push_back(i);
  return out;
}

// Loops over the axes, with the offsets they add to the operands.
std::string loops(const std::string& name, const Shape& sizes, std::string body) {
  for (size_t i = sizes.size(); i-- > 0;)
    body = fmt::format("for (int64_t {0}{1} = 0; {0}{1} < {2}; ++{0}{1}) {{\n{3}}}\n", name, i, sizes[i], body);
  return body;
}
std::string offset_text(const std::string& name, const Ints& strides) {
  std::string out = "0";
  for (size_t i = 0; i < strides.size(); ++i)
    if (strides[i]) out += fmt::format(" + {}{} * {}", name, i, strides[i]);
  return out;
}
Ints picked(const Ints& from, const Ints& which) {
  Ints out;
  for (int64_t i : which) out.push_back(from[i]);
  return out;
}

Kernel dot_rule(Site& s) {
  const DType t = s.out_type(0).dtype;
  if (!is_plain(t)) return {};
  const Attrs&      a = s.e.attrs;
  const Strided     L = strided(s, 0), R = strided(s, 1);
  const Shape &     l = s.in_type(0).shape, &r = s.in_type(1).shape;
  const Ints &      lb = a[lhs_batch], &rb = a[rhs_batch], &lk = a[lhs_contract], &rk = a[rhs_contract];
  const Ints        lm = others(static_cast<int>(l.size()), lb, lk), rn = others(static_cast<int>(r.size()), rb, rk);
  const Joined      m = joined_axes(l, L.strides, lm), n = joined_axes(r, R.strides, rn);
  const Joined      kl = joined_axes(l, L.strides, lk), kr = joined_axes(r, R.strides, rk);
  const Shape       batch = picked(l, lb);
  const std::string lo = offset_text("b", picked(L.strides, lb)), ro = offset_text("b", picked(R.strides, rb));
  const std::string co =
      offset_text("b", picked(strides_of(s.out_type(0).shape), counted(0, static_cast<int64_t>(lb.size()))));
  Kernel k;
  k.work = size_of(s.out_type(0).shape) * kl.size / 16;  // a vector of multiply-adds takes as long as an element
  if (is_float(t) && m.ok && n.ok && kl.ok && kr.ok) {
    s.unit.use_product(t);
    // Threads share rows where there are many: each then looks for events in its own. Else columns, some panels of
    // them, as looking for events pays for many columns only.
    const bool    by_rows = batch.empty() && m.size >= 2 * rows_of_part, by_columns = batch.empty() && !by_rows;
    const int64_t tile = t == DType::F32 ? 32 : 16;
    const int64_t wide = n.size >= 8 * tile ? 4 * tile : n.size >= 4 * tile ? 2 * tile : tile;
    const int64_t part = by_rows ? rows_of_part : wide, all = by_rows ? m.size : n.size;
    k.count                   = batch.empty() ? (all + part - 1) / part : 1;
    const std::string from    = fmt::format("begin * {}", part),
                      to      = fmt::format("(end * {1} < {0} ? end * {1} : {0})", all, part);
    const std::string rows    = by_rows ? fmt::format("{} - {}", to, from) : str(m.size);
    const std::string columns = by_columns ? fmt::format("{}, {}", from, to) : fmt::format("0, {}", n.size);
    const std::string row     = by_rows ? from : "0";
    const std::string lhs = fmt::format("{} + {} + {} * {}, {}, {}", L.pointer, lo, row, m.stride, m.stride, kl.stride);
    const std::string rhs = fmt::format("{} + {}, {}, {}", R.pointer, ro, kr.stride, n.size == 1 ? 1 : n.stride);
    const std::string out = fmt::format("{} + {} + {} * {}, {}", s.out(0), co, row, n.size, n.size);
    const std::string call =
        fmt::format("{}matmul_{}({}, {}, {}, {}, {}, {});\n", s.unit.dialect() == Dialect::Native ? "f->host->" : "bt_",
                    name_of(t), rows, columns, kl.size, lhs, rhs, out);
    k.body = loops("b", batch, call);
    return k;
  }
  // Any strides, any type.
  const auto inner =
      fmt::format("s += ({0}){1}[{2} + {3} + {4}] * ({0}){5}[{6} + {7} + {8}];\n", is_float(t) ? "double" : "int64_t",
                  L.pointer, lo, offset_text("m", picked(L.strides, lm)), offset_text("k", picked(L.strides, lk)),
                  R.pointer, ro, offset_text("n", picked(R.strides, rn)), offset_text("k", picked(R.strides, rk)));
  const auto body =
      fmt::format("{} s = 0;\n{}*y++ = ({})s;\n", sum_type(t), loops("k", picked(l, lk), inner), storage_type(t));
  k.body = fmt::format("{}* y = {};\n", storage_type(t), s.out(0)) +
           loops("b", batch, loops("m", picked(l, lm), loops("n", picked(r, rn), body)));
  return k;
}

// y[n, gO+o, p] = Σ_{c,k} x̃[n, gC+c, p·stride + k·rhs_dilation - lo] w[gO+o, c, k]
Kernel conv_rule(Site& s) {
  const DType t = s.out_type(0).dtype;
  if (!is_plain(t)) return {};
  const Attrs&  a = s.e.attrs;
  const Shape & x = s.in_type(0).shape, &w = s.in_type(1).shape, &y = s.out_type(0).shape;
  const size_t  d = x.size() - 2;
  const int64_t G = a[groups_key], C = w[1], O = w[0] / G;
  const Shape   X(x.begin() + 2, x.end()), K(w.begin() + 2, w.end()), P(y.begin() + 2, y.end());
  // Kernel positions outside, output positions inside: for each axis the range of p that reads inside x.
  std::string open, close, at = "0", to = "0";
  for (size_t i = 0; i < d; ++i) {
    open += fmt::format("for (int64_t k{0} = 0; k{0} < {1}; ++k{0}) {{\n", i, K[i]);
    close += "}";
  }
  std::string weight = "0";
  for (size_t i = 0; i < d; ++i) weight = fmt::format("({}) * {} + k{}", weight, K[i], i);
  open += fmt::format("const {0} weight = ({0})kernel[{1}];\n", sum_type(t), weight);
  for (size_t i = 0; i < d; ++i) {
    open += fmt::format(
        "for (int64_t p{0} = 0; p{0} < {1}; ++p{0}) {{\nconst int64_t q{0} = p{0} * {2} + k{0} * {3} - {4};\n", i, P[i],
        a[stride_key][i], a[rhs_dilation_key][i], a[lo_key][i]);
    const int64_t ld = a[lhs_dilation_key][i];
    open += fmt::format("if (q{0} < 0 || q{0} % {1} != 0 || q{0} / {1} >= {2}) continue;\n", i, ld, X[i]);
    at = fmt::format("({}) * {} + q{} / {}", at, X[i], i, ld);
    to = fmt::format("({}) * {} + p{}", to, P[i], i);
    close += "}";
  }
  Kernel k;
  k.scratch = size_of(P) * 8;
  k.count   = x[0] * w[0];
  k.work    = size_of(y) * C * size_of(K);
  k.body    = filled(R"(
$sum* sum = ($sum*)w;
for (int64_t i = begin; i < end; ++i) {
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
                     {{"sum", std::string(sum_type(t))},
                      {"GO", str(G * O)},
                      {"O", str(O)},
                      {"P", str(size_of(P))},
                      {"C", str(C)},
                      {"T", std::string(storage_type(t))},
                      {"x", s.in(0)},
                      {"G", str(G)},
                      {"X", str(size_of(X))},
                      {"k", s.in(1)},
                      {"K", str(size_of(K))},
                      {"open", open},
                      {"to", to},
                      {"at", at},
                      {"close", close},
                      {"y", s.out(0)}});
  k.count   = 1;  // one working memory
  k.body    = fmt::format("begin = 0; end = {};\n", x[0] * w[0]) + k.body;
  return k;
}

std::string checked(const std::string& pointer, int64_t n, int64_t below) {
  return fmt::format(
      "for (int64_t e = 0; e < {0}; ++e)\nif ((int64_t){1}[e] < 0 || (int64_t){1}[e] >= {2}) return 1;\n", n, pointer,
      below);
}

// y[l, to[e]] += values[e] x[l, from[e]]
Kernel sparse_dot_rule(Site& s) {
  const DType t = s.out_type(0).dtype;
  if (!is_plain(t)) return {};
  const int64_t E = s.in_type(0).size(), n = s.in_type(3).shape.back(), m = s.e.attrs[size_key];
  const Shape&  x = s.in_type(3).shape;
  const int64_t L = size_of(Shape(x.begin(), x.end() - 1));
  Kernel        k;
  k.scratch = std::max<int64_t>(m * 8, 1);
  k.body    = checked(s.in(1), E, n) + checked(s.in(2), E, m) +
           filled(R"(
$sum* sum = ($sum*)w;
for (int64_t l = 0; l < $L; ++l) {
  for (int64_t j = 0; j < $m; ++j) sum[j] = 0;
  for (int64_t e = 0; e < $E; ++e) sum[$to[e]] += ($sum)$v[e] * ($sum)$x[l * $n + $from[e]];
  for (int64_t j = 0; j < $m; ++j) $y[l * $m + j] = ($T)sum[j];
}
)",
                  {{"sum", std::string(sum_type(t))},
                   {"L", str(L)},
                   {"m", str(m)},
                   {"E", str(E)},
                   {"to", s.in(2)},
                   {"from", s.in(1)},
                   {"v", s.in(0)},
                   {"x", s.in(3)},
                   {"n", str(n)},
                   {"y", s.out(0)},
                   {"T", std::string(storage_type(t))}});
  return k;
}

// values[e] = Σ_l a[l, from[e]] c[l, to[e]]
Kernel sparse_sample_rule(Site& s) {
  const DType t = s.out_type(0).dtype;
  if (!is_plain(t)) return {};
  const Shape&  a = s.in_type(2).shape;
  const int64_t E = s.in_type(0).size(), n = a.back(), m = s.in_type(3).shape.back();
  const int64_t L = size_of(Shape(a.begin(), a.end() - 1));
  Kernel        k;
  k.body = checked(s.in(0), E, n) + checked(s.in(1), E, m) +
           filled(R"(
for (int64_t e = 0; e < $E; ++e) {
  $sum sum = 0;
  for (int64_t l = 0; l < $L; ++l) sum += ($sum)$a[l * $n + $from[e]] * ($sum)$c[l * $m + $to[e]];
  $y[e] = ($T)sum;
}
)",
                  {{"sum", std::string(sum_type(t))},
                   {"L", str(L)},
                   {"m", str(m)},
                   {"E", str(E)},
                   {"to", s.in(1)},
                   {"from", s.in(0)},
                   {"a", s.in(2)},
                   {"c", s.in(3)},
                   {"n", str(n)},
                   {"y", s.out(0)},
                   {"T", std::string(storage_type(t))}});
  return k;
}

}  // namespace

const Rules& product_rules() {
  static const Rules rules = {{"conv", conv_rule},
                              {"dot_general", dot_rule},
                              {"sparse_dot", sparse_dot_rule},
                              {"sparse_sample", sparse_sample_rule}};
  return rules;
}

}  // namespace braintrace::codegen
