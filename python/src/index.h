// SPDX-License-Identifier: Apache-2.0
// NumPy's indexing: numbers, slices, None, ..., integer and bool arrays.
#pragma once

#include "convert.h"

namespace pybraintrace {

bt::Tensor indexed(const bt::Tensor& x, nb::handle key);
// x with `value` set, added, multiplied, … at x[key]: how = set, add, multiply, divide, min, max.
bt::Tensor updated(const bt::Tensor& x, nb::handle key, const bt::Tensor& value, const std::string& how);

}  // namespace pybraintrace
