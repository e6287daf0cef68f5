// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/index_walk.h"

#include <cstring>

namespace braintrace {

namespace {

// Calls f(flat index, offset, stride, n) for every row along the last axis.
template <class F>
void for_each_row(const Shape& shape, int64_t base, const Ints& strides, F f) {
  if (shape.empty()) return f(0, base, 0, 1);
  const int64_t n = shape.back();
  for (IndexWalk i(Shape(shape.begin(), shape.end() - 1)); !i.done(); i.next())
    f(i.flat() * n, base + i.dot(strides), strides.back(), n);
}

// to[i·to_step] = from[i·from_step], in elements of a size known at compile time.
template <size_t bytes>
void copy_row(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(to + i * to_step * static_cast<int64_t>(bytes), from + i * from_step * static_cast<int64_t>(bytes),
                bytes);
}
auto row_copier(DType dtype) {
  switch (size_of(dtype)) {
    case 1:
      return copy_row<1>;
    case 2:
      return copy_row<2>;
    case 4:
      return copy_row<4>;
    default:
      return copy_row<8>;
  }
}

}  // namespace

Array read_strided(const Array& x, const Type& out, int64_t base, const Ints& strides) {
  Array y(out);
  if (y.size() == 0) return y;
  const auto    copy = row_copier(out.dtype);
  const int64_t size = static_cast<int64_t>(size_of(out.dtype));
  const auto*   from = static_cast<const char*>(x.raw());
  auto*         to   = static_cast<char*>(y.mutable_raw());
  for_each_row(out.shape, base, strides, [&](int64_t flat, int64_t at, int64_t step, int64_t n) {
    copy(to + flat * size, 1, from + at * size, step, n);
  });
  return y;
}

void write_strided(Array& y, const Array& x, int64_t base, const Ints& strides) {
  if (x.size() == 0) return;
  const auto    copy = row_copier(y.dtype());
  const int64_t size = static_cast<int64_t>(size_of(y.dtype()));
  const auto*   from = static_cast<const char*>(x.raw());
  auto*         to   = static_cast<char*>(y.mutable_raw());
  for_each_row(x.shape(), base, strides, [&](int64_t flat, int64_t at, int64_t step, int64_t n) {
    copy(to + at * size, step, from + flat * size, 1, n);
  });
}

}  // namespace braintrace
