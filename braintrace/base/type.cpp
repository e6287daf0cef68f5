// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/type.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/base/error.h"

namespace braintrace {

int64_t size_of(const Shape& shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

int64_t Type::size() const { return size_of(shape); }

Ints strides_of(const Shape& shape) {
  Ints strides(shape.size(), 1);
  for (int i = static_cast<int>(shape.size()) - 2; i >= 0; --i) strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }
std::string to_string(const Type& type) { return fmt::format("{}{}", name_of(type.dtype), to_string(type.shape)); }

Shape broadcast_shapes(const Shape& a, const Shape& b, const char* where) {
  Shape out(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t db = i < b.size() ? b[b.size() - 1 - i] : 1;
    require(da == db || da == 1 || db == 1, ErrorKind::Shape,
            "{}: shapes {} and {} do not broadcast: axis {} from the right is {} in one and {} in the other.\n"
            "  Reshape or transpose one of them so that the axes agree or have size 1.",
            where, to_string(a), to_string(b), i + 1, da, db);
    out[out.size() - 1 - i] = da == 1 ? db : da;
  }
  return out;
}

int normalize_axis(int64_t axis, int rank, const char* where) {
  require(rank > 0, ErrorKind::Shape, "{}: axis {} does not exist: a scalar has no axes.", where, axis);
  require(-rank <= axis && axis < rank, ErrorKind::Shape,
          "{}: axis {} does not exist in a tensor of rank {}; allowed are {} to {}.", where, axis, rank, -rank,
          rank - 1);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Ints normalize_axes(Ints axes, int rank, const char* where) {
  for (int64_t& a : axes) a = normalize_axis(a, rank, where);
  std::sort(axes.begin(), axes.end());
  require(std::adjacent_find(axes.begin(), axes.end()) == axes.end(), ErrorKind::Shape,
          "{}: axes {} name one axis twice.", where, to_string(axes));
  return axes;
}

Ints Axes::of(int rank, const char* where) const {
  if (!all_) return normalize_axes(list_, rank, where);
  Ints every(static_cast<size_t>(rank));
  std::iota(every.begin(), every.end(), 0);
  return every;
}

}  // namespace braintrace
