// SPDX-License-Identifier: Apache-2.0
// Two ops, each other's derivatives. E entries lead from position from[e] to position to[e]:
//   sparse_dot      y[…, to[e]] += values[e] x[…, from[e]]      a zero source contributes nothing, not even ∞ · 0
//   sparse_sample   values[e] = Σ_… a[…, from[e]] c[…, to[e]]
#include "braintrace/ops/sparse.h"

#include "braintrace/base/rng.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

using keys::size;

void check_pattern(const Op& op, const Type& from, const Type& to) {
  require(is_integer(from.dtype) && is_integer(to.dtype) && from.rank() == 1 && from.shape == to.shape,
          "{}: from and to must be integer vectors of equal length, got {} and {}.", op.name, to_string(from),
          to_string(to));
}

void check_range(const Op& op, const char* what, const Integers& v, int64_t n, int64_t below) {
  for (int64_t e = 0; e < n; ++e)
    require(0 <= v[e] && v[e] < below, ErrorKind::Index,
            "{}: entry {} has {} index {}, outside 0 … {}; check the pattern.", op.name, e, what, v[e], below - 1);
}

// The pattern as checked integers.
struct Entries {
  Integers from, to;
  int64_t  E;
  Entries(const Op& op, const Array& f, const Array& t, int64_t n_from, int64_t n_to) : from(f), to(t), E(f.size()) {
    check_range(op, "from", from, E, n_from);
    check_range(op, "to", to, E, n_to);
  }
};

Tensor spread(const Tensor& values, const Tensor& from, const Tensor& to, const Tensor& x, int64_t n) {
  return apply1(sparse_dot_op, {values, from, to, x}, {{size, n}});
}
Tensor sampled(const Tensor& from, const Tensor& to, const Tensor& a, const Tensor& c) {
  return apply1(sparse_sample_op, {from, to, a, c});
}

// B patterns as one block-diagonal pattern: block b leads from n_b + … .
Tensor blocks(const Tensor& index, bool batched, int64_t B, int64_t n) {
  const Tensor each = convert(with_batch_axis(index, batched, B), DType::I64);
  return reshape(each + iota(each.shape(), 0, DType::I64) * full({}, static_cast<double>(n), DType::I64), {-1});
}
// [B, L…, n] → [L…, B·n] and back
Tensor side_by_side(const Tensor& x, bool batched, int64_t B) {
  const Tensor t = with_batch_axis(x, batched, B);
  const Tensor m = move_axis(t, 0, t.rank() - 2);
  return reshape(m, joined(part(m.shape(), 0, m.rank() - 2), {B * m.shape().back()}));
}
Tensor one_above_other(const Tensor& y, int64_t B) {
  const Tensor m =
      reshape(y, joined(part(y.shape(), 0, y.rank() - 1), {B, y.shape().back() / std::max<int64_t>(B, 1)}));
  return move_axis(m, m.rank() - 2, 0);
}

AxisLinks all_but_last(const DependArgs& a) {
  AxisLinks links;
  for (int i = 0; i < a.out[0].rank() - 1; ++i) links.push_back(axis_link(i, i));
  return links;
}

Tensor random_entries(Rng& rng, int64_t E, int64_t below) {
  std::vector<int64_t> v(static_cast<size_t>(E));
  for (int64_t& i : v) i = rng.integer(below);
  return from_integers({DType::I32, {E}}, v);
}

template <class Value, class View>
std::vector<Value> spread_values(const View& values, const View& x, const Entries& e, int64_t L, int64_t n, int64_t m) {
  std::vector<Value> y(static_cast<size_t>(L * m), Value{});
  for (int64_t l = 0; l < L; ++l)
    for (int64_t i = 0; i < e.E; ++i)
      if (x[l * n + e.from[i]] != 0)
        y[l * m + e.to[i]] += static_cast<Value>(values[i]) * static_cast<Value>(x[l * n + e.from[i]]);
  return y;
}

template <class Value, class View>
std::vector<Value> sample_values(const View& a, const View& c, const Entries& e, int64_t L, int64_t n, int64_t m) {
  std::vector<Value> y(static_cast<size_t>(e.E), Value{});
  for (int64_t l = 0; l < L; ++l)
    for (int64_t i = 0; i < e.E; ++i)
      y[i] += static_cast<Value>(a[l * n + e.from[i]]) * static_cast<Value>(c[l * m + e.to[i]]);
  return y;
}

int64_t leading(const Shape& s) { return size_of(part(s, 0, static_cast<int64_t>(s.size()) - 1)); }

}  // namespace

// y[…, to[e]] += values[e] x[…, from[e]]
constinit const Op sparse_dot_op = {
    .name     = "sparse_dot",
    .doc      = "x times a sparse matrix, along the last axis of x",
    .operands = "values from to x",
    .infer    = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      check_pattern(op, in[1], in[2]);
      require(in[0] == Type{in[3].dtype, in[1].shape}, "{}: values must be {}, one per entry, got {}.", op.name,
                 to_string(Type{in[3].dtype, in[1].shape}), to_string(in[0]));
      require(in[3].rank() >= 1 && a[size] >= 0, "{}: x must have a last axis and size {} must not be negative.",
                 op.name, a[size]);
      Type out         = in[3];
      out.shape.back() = a[size];
      require_shape(op, out.shape);
      return {out};
    },
    .eval = [](const Op& op, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      const int64_t n = in[3].shape().back(), m = a[size], L = leading(in[3].shape());
      const Entries e(op, in[1], in[2], n, m);
      if (is_float(out[0].dtype))
        return {from_doubles(out[0], spread_values<double>(Doubles(in[0]), Doubles(in[3]), e, L, n, m))};
      const auto y = spread_values<uint64_t>(Integers(in[0]), Integers(in[3]), e, L, n, m);  // wraps
      return {from_integers(out[0], std::vector<int64_t>(y.begin(), y.end()))};
    },
    .linearity       = Linearity::Each,
    .linear_operands = 0b1001,
    .transpose       = [](const TransposeArgs& a) -> Tensors {
      const Tensor &from = a.in[1], &to = a.in[2];
      if (a.linear[0]) return {sampled(from, to, a.in[3], a.ct[0]), {}, {}, {}};
      return {{}, {}, {}, spread(a.in[0], to, from, a.ct[0], a.types[3].shape.back())};
    },
    .batch = [](const BatchArgs& a) -> Tensors {
      const int64_t B = a.size, n = a.in[3].shape().back(), m = a.attrs[size];
      if (!a.batched[0] && !a.batched[1] && !a.batched[2]) return {spread(a.in[0], a.in[1], a.in[2], a.in[3], m)};
      const Tensor values = reshape(with_batch_axis(a.in[0], a.batched[0], B), {-1});
      const Tensor y      = spread(values, blocks(a.in[1], a.batched[1], B, n), blocks(a.in[2], a.batched[2], B, m),
                                   side_by_side(a.in[3], a.batched[3], B), B * m);
      return {one_above_other(y, B)};
    },
    .depend = [](const DependArgs& a) -> AxisLinks { return a.operand == 3 ? all_but_last(a) : AxisLinks{}; },
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      auto x = [&](Shape s) { return Tensor(random_array(rng, {DType::F64, std::move(s)})); };
      return {{{x({7}), random_entries(rng, 7, 4), random_entries(rng, 7, 3), x({2, 4})}, {{size, int64_t{3}}}},
              {{x({5}), random_entries(rng, 5, 3), random_entries(rng, 5, 6), x({3})}, {{size, int64_t{6}}}}};
    },
};

// values[e] = Σ_… a[…, from[e]] c[…, to[e]]
constinit const Op sparse_sample_op = {
    .name     = "sparse_sample",
    .doc      = "entries of the product of two dense matrices, only where a sparse pattern has one",
    .operands = "from to a c",
    .infer    = [](const Op& op, const Types& in, const Attrs&) -> Types {
      check_pattern(op, in[0], in[1]);
      const Type &a = in[2], &c = in[3];
      require(a.rank() >= 1 && a.rank() == c.rank() && a.dtype == c.dtype &&
                     part(a.shape, 0, a.rank() - 1) == part(c.shape, 0, c.rank() - 1),
                 "{}: a {} and c {} must agree in element type and in all axes but the last.", op.name, to_string(a),
                 to_string(c));
      return {{a.dtype, in[0].shape}};
    },
    .eval = [](const Op& op, const Arrays& in, const Attrs&, const Types& out) -> Arrays {
      const int64_t n = in[2].shape().back(), m = in[3].shape().back(), L = leading(in[2].shape());
      const Entries e(op, in[0], in[1], n, m);
      if (is_float(out[0].dtype))
        return {from_doubles(out[0], sample_values<double>(Doubles(in[2]), Doubles(in[3]), e, L, n, m))};
      const auto y = sample_values<uint64_t>(Integers(in[2]), Integers(in[3]), e, L, n, m);  // wraps
      return {from_integers(out[0], std::vector<int64_t>(y.begin(), y.end()))};
    },
    .linearity       = Linearity::Each,
    .linear_operands = 0b1100,
    .transpose       = [](const TransposeArgs& a) -> Tensors {
      // d a[…, from[e]] = ct[e] c[…, to[e]], and the same the other way round.
      const Tensor &from = a.in[0], &to = a.in[1];
      if (a.linear[2]) return {{}, {}, spread(a.ct[0], to, from, a.in[3], a.types[2].shape.back()), {}};
      return {{}, {}, {}, spread(a.ct[0], from, to, a.in[2], a.types[3].shape.back())};
    },
    .batch = [](const BatchArgs& a) -> Tensors {
      const int64_t B = a.size, n = a.in[2].shape().back(), m = a.in[3].shape().back();
      const Tensor  y = sampled(blocks(a.in[0], a.batched[0], B, n), blocks(a.in[1], a.batched[1], B, m),
                                side_by_side(a.in[2], a.batched[2], B), side_by_side(a.in[3], a.batched[3], B));
      return {reshape(y, {B, B == 0 ? 0 : y.size() / B})};
    },
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      auto x = [&](Shape s) { return Tensor(random_array(rng, {DType::F64, std::move(s)})); };
      return {{{random_entries(rng, 7, 4), random_entries(rng, 7, 3), x({2, 4}), x({2, 3})}, {}},
              {{random_entries(rng, 5, 3), random_entries(rng, 5, 6), x({3}), x({6})}, {}}};
    },
};

SparsePattern coo(const Tensor& rows, const Tensor& cols, int64_t n_rows, int64_t n_cols) {
  require(is_integer(rows.dtype()) && is_integer(cols.dtype()) && rows.rank() == 1 && rows.shape() == cols.shape(),
          "coo: rows and cols must be integer vectors of equal length, got {} and {}.", to_string(rows.type()),
          to_string(cols.type()));
  require(n_rows >= 0 && n_cols >= 0, "coo: the matrix size {} by {} must not be negative.", n_rows, n_cols);
  auto check = [](const Tensor& t, const char* what, int64_t below) {
    if (t.is_traced()) return;
    const Array    a = t.array();
    const Integers v(a);
    for (int64_t e = 0; e < a.size(); ++e)
      require(0 <= v[e] && v[e] < below, ErrorKind::Index,
              "coo: entry {} has {} {}, outside 0 … {}; check the pattern.", e, what, v[e], below - 1);
  };
  check(rows, "row", n_rows);
  check(cols, "column", n_cols);
  return {rows, cols, n_rows, n_cols};
}

SparsePattern csr(const Tensor& indptr, const Tensor& indices, int64_t n_rows, int64_t n_cols) {
  require(n_rows >= 0 && is_integer(indptr.dtype()) && indptr.shape() == Shape{n_rows + 1},
          "csr: indptr must be {} integers for {} rows, got {}.", n_rows + 1, n_rows, to_string(indptr.type()));
  const Integers       at(indptr.array());
  std::vector<int64_t> rows;
  require(at[0] == 0 && at[n_rows] == indices.size(),
          "csr: indptr must start at 0 and end at the {} stored entries, got {} and {}.", indices.size(), at[0],
          at[n_rows]);
  for (int64_t r = 0; r < n_rows; ++r) {
    require(at[r] <= at[r + 1] && at[r + 1] <= indices.size(),
            "csr: indptr must not decrease, but row {} runs from {} to {}.", r, at[r], at[r + 1]);
    rows.insert(rows.end(), static_cast<size_t>(at[r + 1] - at[r]), r);
  }
  return coo(from_integers({DType::I32, {static_cast<int64_t>(rows.size())}}, rows), indices, n_rows, n_cols);
}

SparsePattern transposed(const SparsePattern& p) { return {p.cols, p.rows, p.n_cols, p.n_rows}; }

Tensor dot(const Tensor& x, const SparsePattern& p, const Tensor& values) {
  require(x.rank() >= 1 && x.shape().back() == p.n_rows, ErrorKind::Shape,
          "dot: x {} does not fit a sparse matrix of {} by {}; its last axis must have size {}.", to_string(x.type()),
          p.n_rows, p.n_cols, p.n_rows);
  const Tensors in = promote_together({values, x});
  return spread(in[0], p.rows, p.cols, in[1], p.n_cols);
}

Tensor dot(const SparsePattern& p, const Tensor& values, const Tensor& x) {
  require((x.rank() == 1 || x.rank() == 2) && x.shape()[0] == p.n_cols, ErrorKind::Shape,
          "dot: a sparse matrix of {} by {} times {}; expected a vector of {} or a matrix with {} rows.", p.n_rows,
          p.n_cols, to_string(x.type()), p.n_cols, p.n_cols);
  if (x.rank() == 1) return dot(x, transposed(p), values);
  return transpose(dot(transpose(x), transposed(p), values));
}

Tensor to_dense(const SparsePattern& p, const Tensor& values) {
  const Tensor width = full({}, static_cast<double>(p.n_cols), DType::I64);
  const Tensor flat  = convert(p.rows, DType::I64) * width + convert(p.cols, DType::I64);
  return reshape(scatter_add(zeros({p.n_rows * p.n_cols}, values.dtype()), flat, values), {p.n_rows, p.n_cols});
}

const std::vector<const Op*>& sparse_ops() {
  static const std::vector<const Op*> ops = {&sparse_dot_op, &sparse_sample_op};
  return ops;
}

}  // namespace braintrace
