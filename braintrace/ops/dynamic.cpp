// SPDX-License-Identifier: Apache-2.0
// Blocks at positions known only when the program runs: dynamic_slice, dynamic_update_slice.
//
// The first `batch` axes of all operands are paired; start holds one position per remaining axis:
//   x : [batch…, n…]   start : [batch…, rank of n]   block : [batch…, sizes…]
#include "braintrace/base/rng.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

using keys::batch;

void check_block(const Op& op, const Type& x, const Type& start, const Ints& block, int64_t nb) {
  require(0 <= nb && nb <= x.rank() && static_cast<int64_t>(block.size()) == x.rank() - nb,
          "{}: the block {} needs one size per axis of {} after {} batch axes.", op.name, to_string(block),
          to_string(x), nb);
  require(is_integer(start.dtype) && start.shape == joined(part(x.shape, 0, nb), {static_cast<int64_t>(block.size())}),
          "{}: start must hold {} integers, one per axis of {}, got {}.", op.name, block.size(), to_string(x),
          to_string(start));
  for (size_t i = 0; i < block.size(); ++i)
    require(0 <= block[i] && block[i] <= x.shape[nb + static_cast<int64_t>(i)],
            "{}: a block of {} does not fit axis {} of {}; make the block smaller.", op.name, block[i],
            nb + static_cast<int64_t>(i), to_string(x));
}

// Calls f(b, offset of the block inside one batch entry of x) for every batch entry b.
template <class F>
void for_each_block(const Array& start, const Shape& inner, const Ints& block, F f) {
  const Integers at(start);
  const Ints     strides = strides_of(inner);
  const int64_t  rank    = static_cast<int64_t>(inner.size());
  const int64_t  entries = rank ? start.size() / rank : size_of(Shape(start.shape().begin(), start.shape().end() - 1));
  for (int64_t b = 0; b < entries; ++b) {
    int64_t offset = 0;
    for (int64_t k = 0; k < rank; ++k)
      offset += std::clamp<int64_t>(at[b * rank + k], 0, inner[k] - block[k]) * strides[k];
    f(b, offset);
  }
}

// Operands with one more paired batch axis.
Tensors all_batched(const BatchArgs& a) {
  Tensors in;
  for (size_t i = 0; i < a.in.size(); ++i) in.push_back(with_batch_axis(a.in[i], a.batched[i], a.size));
  return in;
}

// Axes along which the block spans the whole of x keep their positions, because start is clamped to 0 there.
AxisLinks spanning_axes(const Shape& from, const Shape& to) {
  AxisLinks links;
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] == to[i]) links.push_back(axis_link(static_cast<int64_t>(i), static_cast<int64_t>(i)));
  return links;
}

Tensor block_of(const Tensor& x, const Tensor& start, Ints block, int64_t nb) {
  return apply1(dynamic_slice_op, {x, start}, {{batch, nb}, {keys::sizes, std::move(block)}});
}
Tensor written(const Tensor& x, const Tensor& update, const Tensor& start, int64_t nb) {
  return apply1(dynamic_update_slice_op, {x, update, start}, {{batch, nb}});
}

Array random_start(Rng& rng, Shape shape) { return random_array(rng, {DType::I32, std::move(shape)}); }

}  // namespace

// y[i] = x[start + i]
constinit const Op dynamic_slice_op = {
    .name     = "dynamic_slice",
    .doc      = "a block of x at a position known only at run time, moved inside x where it would not fit",
    .operands = "x start",
    .infer    = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      check_block(op, in[0], in[1], a[keys::sizes], a[batch]);
      return {{in[0].dtype, joined(part(in[0].shape, 0, a[batch]), a[keys::sizes])}};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      Array       y(out[0]);
      const Shape inner = part(in[0].shape(), a[batch], in[0].type().rank());
      const Ints  dense = strides_of(a[keys::sizes]);
      for_each_block(in[1], inner, a[keys::sizes], [&](int64_t b, int64_t offset) {
        const Array block =
            read_strided(in[0], {out[0].dtype, a[keys::sizes]}, b * size_of(inner) + offset, strides_of(inner));
        write_strided(y, block, b * block.size(), dense);
      });
      return {y};
    },
    .linearity       = Linearity::Joint,
    .linear_operands = 0b01,
    .transpose       = [](const TransposeArgs& a) -> Tensors {
      return {written(Tensor(a.types[0], 0), a.ct[0], a.in[1], a.attrs[batch]), Tensor()};
    },
    .batch = [](const BatchArgs& a) -> Tensors {
      if (!a.batched[1] && a.attrs[batch] == 0) {  // the new axis is taken whole
        const Tensor start = concat({zeros({1}, a.in[1].dtype()), a.in[1]}, 0);
        return {block_of(a.in[0], start, prepend(a.size, a.attrs[keys::sizes]), 0)};
      }
      const Tensors in = all_batched(a);
      return {block_of(in[0], in[1], a.attrs[keys::sizes], a.attrs[batch] + 1)};
    },
    .depend = [](const DependArgs& a) -> AxisLinks {
      return a.operand == 0 ? spanning_axes(a.in[0].shape, a.out[0].shape) : AxisLinks{};
    },
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      return {{{random_array(rng, {DType::F64, {4, 3, 5}}), random_start(rng, {3})},
               {{batch, int64_t{0}}, {keys::sizes, {2, 3, 3}}}},
              {{random_array(rng, {DType::F64, {2, 4}}), random_start(rng, {2, 1})},
               {{batch, int64_t{1}}, {keys::sizes, {2}}}}};
    },
};

// y = x, but y[start + i] = update[i]
constinit const Op dynamic_update_slice_op = {
    .name     = "dynamic_update_slice",
    .doc      = "x with a block overwritten at a position known only at run time",
    .operands = "x update start",
    .infer    = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      const int64_t nb = a[batch];
      require(in[0].dtype == in[1].dtype && in[0].rank() == in[1].rank() && 0 <= nb && nb <= in[0].rank() &&
                     part(in[0].shape, 0, nb) == part(in[1].shape, 0, nb),
                 "{}: update {} must have the element type, rank and batch axes of x {}.", op.name, to_string(in[1]),
                 to_string(in[0]));
      check_block(op, in[0], in[2], part(in[1].shape, nb, in[1].rank()), nb);
      return {in[0]};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      const Ints  strides = strides_of(out[0].shape);
      Array       y       = read_strided(in[0], out[0], 0, strides);
      const Shape inner   = part(out[0].shape, a[batch], out[0].rank());
      const Shape block   = part(in[1].shape(), a[batch], out[0].rank());
      for_each_block(in[2], inner, block, [&](int64_t b, int64_t offset) {
        const Array update = read_strided(in[1], {out[0].dtype, block}, b * size_of(block), strides_of(block));
        write_strided(y, update, b * size_of(inner) + offset, strides_of(inner));
      });
      return {y};
    },
    .linearity       = Linearity::Joint,
    .linear_operands = 0b011,
    .transpose       = [](const TransposeArgs& a) -> Tensors {
      const int64_t nb = a.attrs[batch];
      const Shape&  u  = a.types[1].shape;
      return {a.linear[0] ? written(a.ct[0], Tensor(a.types[1], 0), a.in[2], nb) : Tensor(),
              a.linear[1] ? block_of(a.ct[0], a.in[2], part(u, nb, a.types[1].rank()), nb) : Tensor(), Tensor()};
    },
    .batch = [](const BatchArgs& a) -> Tensors {
      const Tensors in = all_batched(a);
      return {written(in[0], in[1], in[2], a.attrs[batch] + 1)};
    },
    .depend = [](const DependArgs& a) -> AxisLinks {
      return a.operand < 2 ? spanning_axes(a.in[a.operand].shape, a.out[0].shape) : AxisLinks{};
    },
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      return {
          {{random_array(rng, {DType::F64, {4, 3}}), random_array(rng, {DType::F64, {2, 3}}), random_start(rng, {2})},
           {{batch, int64_t{0}}}},
          {{random_array(rng, {DType::F64, {2, 4}}), random_array(rng, {DType::F64, {2, 2}}),
            random_start(rng, {2, 1})},
           {{batch, int64_t{1}}}}};
    },
};

Tensor dynamic_slice(const Tensor& x, const Tensor& start, Ints block) {
  return block_of(x, start, std::move(block), 0);
}

Tensor dynamic_update_slice(const Tensor& x, const Tensor& update, const Tensor& start) {
  return written(x, update, start, 0);
}

}  // namespace braintrace
