// SPDX-License-Identifier: Apache-2.0
// The methods of Tensor that compute.
#include "braintrace/ops/compare.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/cumulative.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/sort.h"

namespace braintrace {

namespace bt = braintrace;

Tensor Tensor::row(int64_t index) const {
  require(rank() > 0, ErrorKind::Index, "tensor: {} has no axis to index with [{}].",
          defined() ? to_string(type()) : "undefined", index);
  const int64_t n = shape()[0], from_front = index < 0 ? index + n : index;
  require(0 <= from_front && from_front < n, ErrorKind::Index,
          "tensor: index {} is outside the first axis of {}; allowed are {} to {}.", index, to_string(type()), -n,
          n - 1);
  return bt::squeeze(slice_axis(*this, 0, from_front, from_front + 1), {0});
}
Tensor Tensor::operator[](const Tensor& indices) const { return take(indices); }

Tensor Tensor::reshape(Shape shape) const { return bt::reshape(*this, std::move(shape)); }
Tensor Tensor::flatten() const { return bt::reshape(*this, {size()}); }
Tensor Tensor::squeeze(Ints axes) const { return bt::squeeze(*this, std::move(axes)); }
Tensor Tensor::transpose() const { return bt::transpose(*this); }
Tensor Tensor::transpose(Ints perm) const { return bt::transpose(*this, std::move(perm)); }
Tensor Tensor::astype(DType dtype) const { return convert(*this, dtype); }

Tensor Tensor::all(const Axes& axes, bool keep_axes) const { return bt::all(*this, axes, keep_axes); }
Tensor Tensor::any(const Axes& axes, bool keep_axes) const { return bt::any(*this, axes, keep_axes); }
Tensor Tensor::max(const Axes& axes, bool keep_axes) const { return bt::max(*this, axes, keep_axes); }
Tensor Tensor::mean(const Axes& axes, bool keep_axes) const { return bt::mean(*this, axes, keep_axes); }
Tensor Tensor::min(const Axes& axes, bool keep_axes) const { return bt::min(*this, axes, keep_axes); }
Tensor Tensor::prod(const Axes& axes, bool keep_axes) const { return bt::prod(*this, axes, keep_axes); }
Tensor Tensor::sum(const Axes& axes, bool keep_axes) const { return bt::sum(*this, axes, keep_axes); }
Tensor Tensor::var(const Axes& axes, bool keep_axes, double correction) const {
  return bt::var(*this, axes, keep_axes, correction);
}
Tensor Tensor::argmax(std::optional<int64_t> axis, bool keep_axes) const { return bt::argmax(*this, axis, keep_axes); }
Tensor Tensor::argmin(std::optional<int64_t> axis, bool keep_axes) const { return bt::argmin(*this, axis, keep_axes); }

Tensor Tensor::argsort(int64_t axis, bool descending) const { return bt::argsort(*this, axis, descending); }
Tensor Tensor::sort(int64_t axis, bool descending) const { return bt::sort(*this, axis, descending); }
Tensor Tensor::cumprod(int64_t axis) const { return bt::cumprod(*this, axis); }
Tensor Tensor::cumsum(int64_t axis) const { return bt::cumsum(*this, axis); }
Tensor Tensor::clip(const Tensor& lo, const Tensor& hi) const { return clamp(*this, lo, hi); }
Tensor Tensor::dot(const Tensor& w) const { return bt::dot(*this, w); }
Tensor Tensor::round() const { return bt::round(*this); }
Tensor Tensor::take(const Tensor& indices, int64_t axis) const { return bt::take(*this, indices, axis); }

}  // namespace braintrace
