// SPDX-License-Identifier: Apache-2.0
// Shapes and types of dense row-major arrays.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "braintrace/base/dtype.h"
#include "braintrace/base/small_vector.h"

namespace braintrace {

using Ints  = SmallVector<int64_t, 4>;
using Shape = Ints;

struct Type {
  DType dtype = DType::F32;
  Shape shape;

  int     rank() const { return static_cast<int>(shape.size()); }
  int64_t size() const;  // number of elements
  int64_t bytes() const { return size() * static_cast<int64_t>(size_of(dtype)); }
  bool    operator==(const Type&) const = default;
};

int64_t     size_of(const Shape& shape);
Ints        strides_of(const Shape& shape);  // in elements, row major
std::string to_string(const Shape& shape);   // [2,3]
std::string to_string(const Type& type);     // f32[2,3]

// The shape two shapes broadcast to (right aligned, size-one axes stretch); throws a UserError that names `where`.
Shape broadcast_shapes(const Shape& a, const Shape& b, const char* where);

// Axis -rank..rank-1 as 0..rank-1; throws a UserError that names `where`.
int  normalize_axis(int64_t axis, int rank, const char* where);
Ints normalize_axes(Ints axes, int rank, const char* where);  // sorted, distinct

// The axes of a reduction: one, several, or (by default) all.
class Axes {
 public:
  Axes() : all_(true) {}
  Axes(int64_t axis) : list_{axis} {}
  Axes(std::initializer_list<int64_t> axes) : list_(axes) {}
  Axes(Ints axes) : list_(std::move(axes)) {}
  Ints of(int rank, const char* where) const;  // sorted, distinct, not negative

 private:
  bool all_ = false;
  Ints list_;
};

}  // namespace braintrace
