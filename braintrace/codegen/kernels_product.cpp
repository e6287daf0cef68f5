// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolution.
#include <algorithm>

#include "braintrace/codegen/kernels.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/conv.h"
#include "braintrace/ops/keys.h"

namespace braintrace::codegen {

namespace {

using keys::lhs_batch;
using keys::lhs_contract;
using keys::rhs_batch;
using keys::rhs_contract;

// An operand with its layout in memory: views such as transposes are folded into the strides.
Product::Side side(const Site& s, size_t operand, const Ints& batch, const Ints& free, const Ints& inner) {
  const size_t n = s.in_type(operand).shape.size();
  Index        index(n, constant(n, 0));
  for (size_t i = 0; i < n; ++i) index[i].c[i] = 1;
  const Var    v  = behind_views(s.p, s.producer, s.e.in[operand], index, n);
  const Affine at = offset(index, s.p.type(v).shape, n);
  return {s.memory[v], at.k, gather(at.c, batch), gather(at.c, free), gather(at.c, inner)};
}

// The stride of a group of axes collapsed into one, if adjacent axes are contiguous.
std::optional<int64_t> joined_stride(const Shape& sizes, const Ints& strides) {
  int64_t size = 1, stride = 0;
  for (size_t k = sizes.size(); k-- > 0;) {
    if (sizes[k] == 1) continue;
    if (size == 1)
      stride = strides[k];
    else if (strides[k] != stride * size)
      return {};
    size *= sizes[k];
  }
  return stride;
}

std::optional<Product::Matrix> as_matrix(const Product& p) {
  const auto lm = joined_stride(p.rows, p.lhs.free), lk = joined_stride(p.inner, p.lhs.inner);
  const auto rk = joined_stride(p.inner, p.rhs.inner), rn = joined_stride(p.columns, p.rhs.free);
  if (!is_float(p.dtype) || !lm || !lk || !rk || !rn) return {};
  const int64_t n = size_of(p.columns);
  return Product::Matrix{size_of(p.rows), n, size_of(p.inner), *lm, *lk, *rk, n == 1 ? 1 : *rn};
}

// The longest run of trailing axes, plus a part of the axis before them, with at most `most` elements.
Product::Block block_of(const Shape& sizes, int64_t most) {
  Product::Block b{sizes.size(), 1, 1};
  while (b.axis > 0 && b.step == (b.axis == sizes.size() ? 1 : sizes[b.axis])) {
    const int64_t n = sizes[--b.axis], rest = b.size;
    b.step = std::clamp<int64_t>(most / rest, 1, n);
    while (n % b.step != 0) --b.step;
    b.size = rest * b.step;
  }
  return b;
}

// Long sums are split into blocks of the length that the host's product processes at a time.
std::optional<Product::Blocks> in_blocks(const Product& p, const Target& target) {
  const int64_t bytes = static_cast<int64_t>(size_of(p.dtype)), inner = size_of(p.inner), n = size_of(p.columns);
  const int64_t elements = target.packed_bytes / bytes;
  if (!is_float(p.dtype) || p.rows.empty() || p.inner.empty() || size_of(p.rows) * inner * n < target.together_from)
    return {};
  Product::Blocks b{};
  b.inner = block_of(p.inner, inner <= target.whole_inner ? inner : target.inner_block);
  if (b.inner.size * n > elements) return {};
  b.rows    = block_of(p.rows, std::max<int64_t>(elements / std::max(b.inner.size, n), 1));
  b.by_rows = p.lhs.inner.back() == 1 || p.lhs.free.back() != 1;
  // Inside a block the first axis is shorter; the strides do not change.
  const auto inside = [](const Product::Block& block, const Ints& list) {
    return Ints(list.begin() + static_cast<int64_t>(block.axis), list.end());
  };
  b.rhs_k = joined_stride(inside(b.inner, p.inner), inside(b.inner, p.rhs.inner));
  b.rhs_n = joined_stride(p.columns, p.rhs.free);
  if (b.rhs_n && n == 1) b.rhs_n = 1;
  return b;
}

// Chooses the rows and columns of a part; returns the number of parts. With many rows, a part has all columns, so it
// searches for events in its rows only once. With few rows, a part has some panels of columns, which balances the load
// better. With many cores, parts are smaller if the cost model says that this is faster: cores process equal parts in
// rounds, and the last round may leave some idle; each part also packs its columns and fetches its rows from other
// caches, which costs as much as some additional rows and columns.
int64_t share(Product& p, const Target& target) {
  const int64_t m = p.matrix->m, n = p.matrix->n;
  const int64_t panel = target.product_panel / static_cast<int64_t>(size_of(p.dtype)), panels = parts_in(n, panel);
  const bool    many  = m >= 2 * target.product_rows;
  double        least = 0;
  int64_t       parts = 1;
  const auto    next  = [&](int64_t rows) { return rows > target.fewest_rows ? parts_in(rows, 2) : 0; };
  for (int64_t rows = many ? target.product_rows : m; rows >= 1; rows = next(rows))
    for (int64_t wide = many ? panels : std::clamp<int64_t>(panels / 2, 1, 4); wide >= 1; --wide) {
      const int64_t columns = std::min(n, wide * panel), count = parts_in(m, rows) * parts_in(n, columns);
      const int64_t fetched = (rows + target.part_overhead) * (columns + target.part_overhead);
      const double  rounds  = static_cast<double>(parts_in(count, target.cores)) + target.part_wait;
      const double  time    = rounds * static_cast<double>(fetched);
      if (least > 0 && time > least) continue;
      least          = time;
      parts          = count;
      p.part_rows    = rows;
      p.part_columns = columns;
      if (target.cores < target.columns_from) return parts;
    }
  return parts;
}

Kernel dot(Site& s) {
  const DType  t = s.out_type(0).dtype;
  const Attrs& a = s.e.attrs;
  const Shape &l = s.in_type(0).shape, &r = s.in_type(1).shape;
  const Ints & lb = a[lhs_batch], &rb = a[rhs_batch], &lk = a[lhs_contract], &rk = a[rhs_contract];
  const Ints   lm = others(static_cast<int>(l.size()), lb, lk), rn = others(static_cast<int>(r.size()), rb, rk);
  Product      p{.dtype     = t,
                 .batch     = gather(l, lb),
                 .rows      = gather(l, lm),
                 .columns   = gather(r, rn),
                 .inner     = gather(l, lk),
                 .lhs       = side(s, 0, lb, lm, lk),
                 .rhs       = side(s, 1, rb, rn, rk),
                 .out       = s.out(0),
                 .out_batch = gather(strides_of(s.out_type(0).shape), counted(0, static_cast<int64_t>(lb.size()))),
                 .matrix    = {}};
  p.matrix = as_matrix(p);
  Kernel k;
  if (!p.matrix && (p.blocks = in_blocks(p, s.target())))
    k.parts = size_of(p.batch) * size_of(p.rows) / p.blocks->rows.size;
  k.work = s.out_type(0).size() * size_of(p.inner) / s.target().multiplications;
  if (p.matrix && p.batch.empty()) k.parts = share(p, s.target());
  k.what = std::move(p);
  return k;
}

Kernel conv(Site& s) {
  const DType   t = s.out_type(0).dtype;
  const Attrs&  a = s.e.attrs;
  const Shape & x = s.in_type(0).shape, &w = s.in_type(1).shape, &y = s.out_type(0).shape;
  const int64_t G = a[keys::groups];
  Convolution   c{t,
                x[0],
                G,
                w[1],
                w[0] / G,
                Shape(x.begin() + 2, x.end()),
                Shape(w.begin() + 2, w.end()),
                Shape(y.begin() + 2, y.end()),
                a[keys::stride],
                a[keys::lo],
                a[keys::lhs_dilation],
                a[keys::rhs_dilation],
                s.in(0),
                s.in(1),
                s.out(0)};
  return {.what = c, .scratch = size_of(c.to) * 8, .work = s.out_type(0).size() * c.in * size_of(c.kernel)};
}

}  // namespace

Rules product_rules() { return {{&conv_op, conv}, {&dot_general_op, dot}}; }

}  // namespace braintrace::codegen
