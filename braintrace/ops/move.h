// SPDX-License-Identifier: Apache-2.0
// Making constant patterns and moving elements: shapes change, values do not.
#pragma once

#include "braintrace/ops/families.h"

namespace braintrace {

extern const Op broadcast_op, concat_op, full_op, iota_op, pad_op, reshape_op, slice_op, transpose_op;

inline Tensor full(Shape shape, double value, DType dtype = DType::F32) {
  return Tensor(Type{dtype, std::move(shape)}, value);
}
inline Tensor zeros(Shape shape, DType dtype = DType::F32) { return full(std::move(shape), 0, dtype); }
inline Tensor ones(Shape shape, DType dtype = DType::F32) { return full(std::move(shape), 1, dtype); }
inline Tensor zeros_like(const Tensor& x) { return Tensor(x.type(), 0); }

// 0, 1, 2, … along `axis`, repeated along the others.
Tensor iota(Shape shape, int64_t axis, DType dtype = DType::I32);

// One size may be -1: it is what remains.
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
// lo before, hi after and `interior` between neighbouring elements, per axis.
Tensor pad(const Tensor& x, const Tensor& value, Ints lo, Ints hi, Ints interior = {});

const std::vector<const Op*>& move_ops();

}  // namespace braintrace
