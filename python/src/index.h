// SPDX-License-Identifier: Apache-2.0
// NumPy's indexing: numbers, slices, None, ..., integer and bool arrays.
#pragma once

#include "convert.h"

namespace pybraintrace {

// Negative indices into an axis of size n as positions from the front; indices that are not traced are checked.
bt::Tensor from_front(const bt::Tensor& indices, int64_t n);
bt::Tensor indexed(const bt::Tensor& x, nb::handle key);
// x with `value` set, added, multiplied, … at x[key]: how = set, add, multiply, divide, min, max.
bt::Tensor updated(const bt::Tensor& x, nb::handle key, const bt::Tensor& value, const std::string& how);

}  // namespace pybraintrace
