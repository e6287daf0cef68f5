// SPDX-License-Identifier: Apache-2.0
// An array seen as lanes along one axis: element j of a lane that begins at flat position b is at b + j·stride.
#pragma once

#include "braintrace/base/type.h"

namespace braintrace {

struct Lanes {
  int64_t outer = 1, length, stride = 1;

  Lanes(const Shape& shape, int64_t axis) : length(shape[axis]) {
    for (int64_t i = 0; i < axis; ++i) outer *= shape[i];
    for (size_t i = static_cast<size_t>(axis) + 1; i < shape.size(); ++i) stride *= shape[i];
  }
  int64_t count() const { return outer * stride; }
  int64_t begin(int64_t lane) const { return lane / stride * length * stride + lane % stride; }
};

}  // namespace braintrace
