// SPDX-License-Identifier: Apache-2.0
// The first `batch` axes of x and indices are paired:
//   x : [batch…, P…, N, Q…]   indices : [batch…, K…]   rows : [batch…, P…, K…, Q…]     N is `axis` of x
#include "braintrace/ops/index.h"

#include <cstring>

#include "braintrace/base/rng.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

using keys::axis;
using keys::batch;

Type rows_type(const Op& op, const Type& x, const Type& indices, const Attrs& a) {
  const int64_t k = a[axis], nb = a[batch];
  require_axis(op, k, x.rank());
  require(is_integer(indices.dtype), ErrorKind::DType, "{}: indices must be integers, got {}; convert them first.",
          op.name, to_string(indices));
  require(0 <= nb && nb <= k && nb <= indices.rank() && part(x.shape, 0, nb) == part(indices.shape, 0, nb),
          ErrorKind::Shape, "{}: the first {} axes of {} and of the indices {} must agree.", op.name, nb, to_string(x),
          to_string(indices));
  return {x.dtype,
          joined(part(x.shape, 0, k), part(indices.shape, nb, indices.rank()), part(x.shape, k + 1, x.rank()))};
}

// Sizes of the flattened axes.
struct Rows {
  int64_t B, P, N, K, Q;
  Rows(const Shape& x, const Shape& indices, const Attrs& a)
      : B(size_of(part(x, 0, a[batch]))),
        P(size_of(part(x, a[batch], a[axis]))),
        N(x[a[axis]]),
        K(size_of(part(indices, a[batch], static_cast<int64_t>(indices.size())))),
        Q(size_of(part(x, a[axis] + 1, static_cast<int64_t>(x.size())))) {}

  // f(start of a run of Q elements of x, start of the run of the rows)
  template <class F>
  void for_each(const Op& op, const Array& indices, F f) const {
    const Integers at(indices);
    for (int64_t i = 0; i < B * K; ++i)
      require(0 <= at[i] && at[i] < N, ErrorKind::Index,
              "{}: index {} at position {} is outside 0 … {}; check the indices.", op.name, at[i], i, N - 1);
    for (int64_t b = 0; b < B; ++b)
      for (int64_t p = 0; p < P; ++p)
        for (int64_t k = 0; k < K; ++k) f(((b * P + p) * N + at[b * K + k]) * Q, ((b * P + p) * K + k) * Q);
  }
};

// Links of the axes around N in x with those around K… in rows.
AxisLinks row_links(const Type& x, const Type& indices, const Attrs& a, bool x_is_operand) {
  const int64_t wider = indices.rank() - a[batch] - 1;
  AxisLinks     links;
  for (int64_t i = 0; i < x.rank(); ++i) {
    const int64_t j = i < a[axis] ? i : i + wider;
    if (i != a[axis]) links.push_back(x_is_operand ? axis_link(i, j) : axis_link(j, i));
  }
  return links;
}

Tensor rows_of(const Tensor& x, const Tensor& indices, int64_t along, int64_t nb) {
  return apply1(take_op, {x, indices}, {{axis, along}, {batch, nb}});
}
Tensor scattered(const Op& op, const Tensor& x, const Tensor& indices, const Tensor& updates, int64_t along,
                 int64_t nb) {
  return apply1(op, {x, indices, updates}, {{axis, along}, {batch, nb}});
}

// Indices 0 … below-1; random_array draws from 0 … 4.
Tensor random_indices(Rng& rng, Shape shape, int64_t below) {
  std::vector<int64_t> v(static_cast<size_t>(size_of(shape)));
  for (int64_t& i : v) i = rng.integer(below);
  return from_integers({DType::I32, std::move(shape)}, v);
}

}  // namespace

// y[b, p, k, q] = x[b, p, indices[b, k], q]
constinit const Op take_op = {
    .name     = "take",
    .doc      = "rows of x at given indices along an axis",
    .operands = "x indices",
    .infer    = [](const Op& op, const Types& in, const Attrs& a) -> Types { return {rows_type(op, in[0], in[1], a)}; },
    .eval     = [](const Op& op, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      Array        y(out[0]);
      const Rows   rows(in[0].shape(), in[1].shape(), a);
      const size_t size = size_of(out[0].dtype);
      rows.for_each(op, in[1], [&](int64_t from, int64_t to) {
        std::memcpy(static_cast<char*>(y.mutable_raw()) + static_cast<size_t>(to) * size,
                        static_cast<const char*>(in[0].raw()) + static_cast<size_t>(from) * size,
                        static_cast<size_t>(rows.Q) * size);
      });
      return {y};
    },
    .linearity       = Linearity::Joint,
    .linear_operands = 0b01,
    .transpose       = [](const TransposeArgs& a) -> Tensors {
      return {scattered(scatter_add_op, Tensor(a.types[0], 0), a.in[1], a.ct[0], a.attrs[axis], a.attrs[batch]),
              Tensor()};
    },
    .batch = [](const BatchArgs& a) -> Tensors {
      const int64_t k = a.attrs[axis], nb = a.attrs[batch];
      if (nb == 0 && !a.batched[1]) return {rows_of(a.in[0], a.in[1], k + 1, 0)};
      if (nb == 0 && !a.batched[0]) return {move_axis(rows_of(a.in[0], a.in[1], k, 0), k, 0)};
      return {rows_of(with_batch_axis(a.in[0], a.batched[0], a.size), with_batch_axis(a.in[1], a.batched[1], a.size),
                      k + 1, nb + 1)};
    },
    .depend = [](const DependArgs& a) -> AxisLinks {
      return a.operand == 0 ? row_links(a.in[0], a.in[1], a.attrs, true) : AxisLinks{};
    },
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      return {{{random_array(rng, {DType::F64, {2, 4, 3}}), random_indices(rng, {2, 3}, 4)},
               {{axis, int64_t{1}}, {batch, int64_t{0}}}},
              {{random_array(rng, {DType::F64, {2, 3, 4}}), random_indices(rng, {2, 5}, 4)},
               {{axis, int64_t{2}}, {batch, int64_t{1}}}},
              {{random_array(rng, {DType::F64, {4, 2}}), random_indices(rng, {}, 4)},
               {{axis, int64_t{0}}, {batch, int64_t{0}}}}};
    },
};

namespace {

// Shared by operations that write rows, op(x, indices, updates), whether they replace or accumulate.

Types scatter_infer(const Op& op, const Types& in, const Attrs& a) {
  const Type rows = rows_type(op, in[0], in[1], a);
  require(in[2] == rows, ErrorKind::Shape, "{}: updates must be {} for x {} and indices {}, got {}.", op.name,
          to_string(rows), to_string(in[0]), to_string(in[1]), to_string(in[2]));
  return {in[0]};
}

Tensors scatter_batch(const BatchArgs& a) {
  const int64_t k = a.attrs[axis], nb = a.attrs[batch];
  const Tensor  x = with_batch_axis(a.in[0], a.batched[0], a.size);
  const Tensor  u = with_batch_axis(a.in[2], a.batched[2], a.size);
  if (nb == 0 && !a.batched[1]) return {scattered(a.op, x, a.in[1], u, k + 1, 0)};
  return {scattered(a.op, x, with_batch_axis(a.in[1], a.batched[1], a.size), u, k + 1, nb + 1)};
}

AxisLinks scatter_depend(const DependArgs& a) {
  if (a.operand == 2) return row_links(a.in[0], a.in[1], a.attrs, false);
  return a.operand == 0 ? elementwise_depend(a) : AxisLinks{};
}

std::vector<Sample> scatter_sample(const Op&, Rng& rng) {
  return {{{random_array(rng, {DType::F64, {2, 4, 3}}), random_indices(rng, {2, 3}, 4),
            random_array(rng, {DType::F64, {2, 2, 3, 3}})},
           {{axis, int64_t{1}}, {batch, int64_t{0}}}},
          {{random_array(rng, {DType::F64, {2, 3, 4}}), random_indices(rng, {2, 5}, 4),
            random_array(rng, {DType::F64, {2, 3, 5}})},
           {{axis, int64_t{2}}, {batch, int64_t{1}}}}};
}

}  // namespace

// y = x;  y[b, p, indices[b, k], q] += updates[b, p, k, q]
constinit const Op scatter_add_op = {
    .name     = "scatter_add",
    .doc      = "x with updates added at given indices along an axis",
    .operands = "x indices updates",
    .infer    = scatter_infer,
    .eval     = [](const Op& op, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      const Rows rows(in[0].shape(), in[1].shape(), a);
      auto       sums = [&]<class View, class Value>(View x, View updates, Value) {
        std::vector<Value> y(x.data(), x.data() + in[0].size());
        rows.for_each(op, in[1], [&](int64_t to, int64_t from) {
          for (int64_t q = 0; q < rows.Q; ++q) y[to + q] += static_cast<Value>(updates[from + q]);
        });
        return y;
      };
      if (is_float(out[0].dtype)) return {from_doubles(out[0], sums(Doubles(in[0]), Doubles(in[2]), double{}))};
      const auto y = sums(Integers(in[0]), Integers(in[2]), uint64_t{});  // wraps
      return {from_integers(out[0], std::vector<int64_t>(y.begin(), y.end()))};
    },
    .linearity       = Linearity::Joint,
    .linear_operands = 0b101,
    .transpose       = [](const TransposeArgs& a) -> Tensors {
      return {a.linear[0] ? a.ct[0] : Tensor(), Tensor(),
              a.linear[2] ? rows_of(a.ct[0], a.in[1], a.attrs[axis], a.attrs[batch]) : Tensor()};
    },
    .batch  = scatter_batch,
    .depend = scatter_depend,
    .sample = scatter_sample,
};

namespace {

// rows[b, p, k, q] if update k is the last one at its index, and 0 elsewhere. Scatters 0, 1, … to the same indices: an
// update that reads back its own number is the last one.
Tensor of_last_updates(const Tensor& rows, const Type& x, const Tensor& indices, const Attrs& a) {
  const int64_t k = a[axis], nb = a[batch];
  const Shape   own   = part(indices.shape(), nb, indices.rank());
  const Tensor  order = broadcast_to(reshape(arange(size_of(own), DType::I32), own), indices.shape());
  const Tensor  none(Type{DType::I32, joined(part(x.shape, 0, nb), Shape{x.shape[k]})}, 0);
  const Tensor  found = rows_of(scattered(scatter_set_op, none, indices, order, nb, nb), indices, nb, nb);
  // [batch…, K…] as [batch…, 1…, K…, 1…]
  Shape wide = joined(part(x.shape, 0, nb), Shape(static_cast<size_t>(k - nb), 1), own);
  wide.resize(static_cast<size_t>(rows.rank()), 1);
  return select(broadcast_to(reshape(equal(found, order), wide), rows.shape()), rows, Tensor(rows.type(), 0));
}

}  // namespace

// y = x;  y[b, p, indices[b, k], q] = updates[b, p, k, q] for k = 0, 1, …
constinit const Op scatter_set_op = {
    .name     = "scatter_set",
    .doc      = "x with updates in place of the elements at given indices along an axis",
    .operands = "x indices updates",
    .infer    = scatter_infer,
    .eval     = [](const Op& op, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      Array        y = in[0].copy();
      const Rows   rows(in[0].shape(), in[1].shape(), a);
      const size_t size = size_of(out[0].dtype);
      rows.for_each(op, in[1], [&](int64_t to, int64_t from) {
        std::memcpy(static_cast<char*>(y.mutable_raw()) + static_cast<size_t>(to) * size,
                        static_cast<const char*>(in[2].raw()) + static_cast<size_t>(from) * size,
                        static_cast<size_t>(rows.Q) * size);
      });
      return {y};
    },
    .linearity       = Linearity::Joint,
    .linear_operands = 0b101,
    .transpose       = [](const TransposeArgs& a) -> Tensors {
      const int64_t k = a.attrs[axis], nb = a.attrs[batch];
      Tensors       out(3);
      if (a.linear[0]) out[0] = scattered(a.op, a.ct[0], a.in[1], Tensor(a.types[2], 0), k, nb);
      if (a.linear[2]) out[2] = of_last_updates(rows_of(a.ct[0], a.in[1], k, nb), a.types[0], a.in[1], a.attrs);
      return out;
    },
    .batch  = scatter_batch,
    .depend = scatter_depend,
    .sample = scatter_sample,
};

Tensor take(const Tensor& x, const Tensor& indices, int64_t along) {
  return rows_of(x, indices, normalize_axis(along, x.rank(), "take"), 0);
}

Tensor scatter_add(const Tensor& x, const Tensor& indices, const Tensor& updates, int64_t along) {
  return scattered(scatter_add_op, x, indices, updates, normalize_axis(along, x.rank(), "scatter_add"), 0);
}

Tensor scatter_set(const Tensor& x, const Tensor& indices, const Tensor& updates, int64_t along) {
  return scattered(scatter_set_op, x, indices, updates, normalize_axis(along, x.rank(), "scatter_set"), 0);
}

namespace {

int64_t aligned_axis(const Tensor& x, const Tensor& indices, int64_t along, const char* where) {
  const int64_t k       = normalize_axis(along, x.rank(), where);
  bool          aligned = x.rank() == indices.rank();
  for (int64_t i = 0; aligned && i < x.rank(); ++i) aligned = i == k || x.shape()[i] == indices.shape()[i];
  require(aligned, ErrorKind::Shape,
          "{}: indices {} must have the shape of x {} except along axis {}; broadcast them first.", where,
          to_string(indices.type()), to_string(x.type()), k);
  return k;
}

}  // namespace

Tensor take_along_axis(const Tensor& x, const Tensor& indices, int64_t along) {
  const int64_t k = aligned_axis(x, indices, along, "take_along_axis"), last = x.rank() - 1;
  return move_axis(rows_of(move_axis(x, k, last), move_axis(indices, k, last), last, last), last, k);
}

namespace {

Tensor scattered_along(const Op& op, const Tensor& x, const Tensor& indices, const Tensor& updates, int64_t along,
                       const char* where) {
  const int64_t k = aligned_axis(x, indices, along, where), last = x.rank() - 1;
  require(updates.shape() == indices.shape(), ErrorKind::Shape, "{}: updates {} must have the shape of indices {}.",
          where, to_string(updates.type()), to_string(indices.type()));
  return move_axis(
      scattered(op, move_axis(x, k, last), move_axis(indices, k, last), move_axis(updates, k, last), last, last), last,
      k);
}

}  // namespace

Tensor scatter_add_along_axis(const Tensor& x, const Tensor& indices, const Tensor& updates, int64_t along) {
  return scattered_along(scatter_add_op, x, indices, updates, along, "scatter_add_along_axis");
}
Tensor scatter_set_along_axis(const Tensor& x, const Tensor& indices, const Tensor& updates, int64_t along) {
  return scattered_along(scatter_set_op, x, indices, updates, along, "scatter_set_along_axis");
}

const std::vector<const Op*>& index_ops() {
  static const std::vector<const Op*> ops = {&scatter_add_op, &scatter_set_op, &take_op};
  return ops;
}

}  // namespace braintrace
