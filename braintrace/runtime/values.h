// SPDX-License-Identifier: Apache-2.0
// Tensors from C++ values and raw buffers, their elements, text form and comparison.
#pragma once

#include <concepts>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "braintrace/base/default_float.h"
#include "braintrace/base/printed.h"
#include "braintrace/ir/tensor.h"

namespace braintrace {

// The dtype of C++ elements as tensors: their own, except that double becomes the default float type.
template <class T>
DType dtype_of_elements() {
  return std::is_same_v<T, double> ? default_float() : dtype_of<T>;
}

// tensor({0.5, 2.0}), tensor({1, 2, 3, 4}, {2, 2}), tensor({0.1, 0.2}, DType::F64).
template <class T>
Tensor tensor(const std::vector<T>& values, Shape shape, DType dtype = dtype_of_elements<T>()) {
  return convert(Array::of(values, std::move(shape)), dtype);
}
template <class T>
Tensor tensor(const std::vector<T>& values) {
  return tensor(values, {static_cast<int64_t>(values.size())});
}
template <class T, std::same_as<DType> D>  // so that {} is a shape
Tensor tensor(const std::vector<T>& values, D dtype) {
  return tensor(values, {static_cast<int64_t>(values.size())}, dtype);
}
template <class T>
Tensor tensor(std::initializer_list<T> values, Shape shape, DType dtype = dtype_of_elements<T>()) {
  return tensor(std::vector<T>(values), std::move(shape), dtype);
}
template <class T>
Tensor tensor(std::initializer_list<T> values) {
  return tensor(std::vector<T>(values));
}
template <class T, std::same_as<DType> D>
Tensor tensor(std::initializer_list<T> values, D dtype) {
  return tensor(std::vector<T>(values), dtype);
}

// A tensor over memory that the caller owns, without a copy; it keeps `owner` alive. The memory must be aligned to the
// element size. The tensor sees later writes to the memory; programs that were traced with it do not.
template <class T>
Tensor from_buffer(const T* data, Shape shape, std::shared_ptr<const void> owner) {
  return Array::borrow({dtype_of<T>, std::move(shape)}, data, std::move(owner));
}

// A copy of the elements; for a pointer, keep the array: `const Array a = t.array(); a.data<float>()`.
template <class T>
std::vector<T> to_vector(const Tensor& t) {
  const Array a = t.array();
  return std::vector<T>(a.data<T>(), a.data<T>() + a.size());
}

// Nested brackets, one row per line; long axes are abbreviated. A traced tensor prints its type.
std::string   to_string(const Tensor& t);
std::ostream& operator<<(std::ostream& out, const Tensor& t);

struct Tolerance {
  double relative = 1e-5, absolute = 1e-8;
};
// Same shape and |a - b| ≤ absolute + relative·|b| everywhere; NaN equals NaN, infinities equal themselves.
bool allclose(const Tensor& a, const Tensor& b, Tolerance tolerance = {});
// The largest |a - b|; infinite where only one of the two is finite. For messages in tests.
double max_difference(const Tensor& a, const Tensor& b);

}  // namespace braintrace

template <>
struct fmt::formatter<braintrace::Tensor> : braintrace::Printed<braintrace::Tensor> {};
