// SPDX-License-Identifier: Apache-2.0
// Constant patterns and movement of elements: shapes change, values do not.
#pragma once

#include "braintrace/base/default_float.h"
#include "braintrace/ops/families.h"

namespace braintrace {

extern const Op broadcast_op, concat_op, dynamic_slice_op, dynamic_update_slice_op, flip_op, full_op, iota_op, pad_op,
    reshape_op, roll_op, slice_op, transpose_op;

inline Tensor full(Shape shape, double value, DType dtype = default_float()) {
  return Tensor(Type{dtype, std::move(shape)}, value);
}
inline Tensor zeros(Shape shape, DType dtype = default_float()) { return full(std::move(shape), 0, dtype); }
inline Tensor ones(Shape shape, DType dtype = default_float()) { return full(std::move(shape), 1, dtype); }
inline Tensor zeros_like(const Tensor& x) { return Tensor(x.type(), 0); }

// 0, 1, 2, … along `axis`, repeated along the others.
Tensor iota(Shape shape, int64_t axis, DType dtype = DType::I32);

// 0, 1, …, n-1.
Tensor arange(int64_t n, DType dtype = DType::I32);
// start, start+step, …, below stop.
Tensor arange(double start, double stop, double step, DType dtype = default_float());
// n evenly spaced numbers from start to stop, both included.
Tensor linspace(double start, double stop, int64_t n, DType dtype = default_float());
// 1 on diagonal `k` (k > 0: above the main one), else 0.
Tensor eye(int64_t rows, int64_t cols, int64_t k = 0, DType dtype = default_float());
Tensor eye(int64_t n, DType dtype = default_float());
// The last two axes with zeros above (tril) or below (triu) diagonal k.
Tensor tril(const Tensor& x, int64_t k = 0);
Tensor triu(const Tensor& x, int64_t k = 0);
// A new last axis of size n with 1 at the index and 0 elsewhere; all 0 for an index outside 0 … n-1.
Tensor one_hot(const Tensor& indices, int64_t n, DType dtype = default_float());

// One size may be -1: it is inferred from the others.
Tensor reshape(const Tensor& x, Shape shape);
// Axis i of the result is axis perm[i] of x; without perm the axes are reversed.
Tensor transpose(const Tensor& x, Ints perm);
Tensor transpose(const Tensor& x);
Tensor move_axis(const Tensor& x, int64_t from, int64_t to);
// Right-aligned broadcasting to `shape`.
Tensor broadcast_to(const Tensor& x, const Shape& shape);
// Axis i of x becomes axis dims[i] of the result; the others repeat x.
Tensor broadcast_axes(const Tensor& x, const Shape& shape, const Ints& dims);
Tensor expand_dims(const Tensor& x, int64_t axis);
Tensor squeeze(const Tensor& x, Ints axes);
Tensor concat(const Tensors& parts, int64_t axis);
Tensor stack(const Tensors& parts, int64_t axis);
// Elements start, start+stride, … below limit, per axis; stride 1 when empty.
Tensor slice(const Tensor& x, Ints start, Ints limit, Ints stride = {});
Tensor slice_axis(const Tensor& x, int64_t axis, int64_t start, int64_t limit, int64_t stride = 1);
// Splits along an axis into parts of the given sizes, or into equal parts.
Tensors split(const Tensor& x, const Ints& sizes, int64_t axis);
Tensors split(const Tensor& x, int64_t parts, int64_t axis);
// A block of `sizes` at an integer position [rank] known only at run time, clamped so that the block fits.
Tensor dynamic_slice(const Tensor& x, const Tensor& start, Ints sizes);
// x with the block at that position replaced by `update`; the position is clamped as in dynamic_slice.
Tensor dynamic_update_slice(const Tensor& x, const Tensor& update, const Tensor& start);
// Reverses the order of elements along the axes.
Tensor flip(const Tensor& x, Ints axes);
// Element i moves to i + shift, modulo the size.
Tensor roll(const Tensor& x, Ints shifts, Ints axes);
Tensor roll(const Tensor& x, int64_t shift, int64_t axis);
// lo before, hi after and `interior` between neighboring elements, per axis.
Tensor pad(const Tensor& x, const Tensor& value, Ints lo, Ints hi, Ints interior = {});

const std::vector<const Op*>& move_ops();

}  // namespace braintrace
