// SPDX-License-Identifier: Apache-2.0
// A dense row-major array: a cheap handle on shared, reference-counted storage. Only the code that created an array
// writes to it, and only before the array is shared.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "braintrace/base/error.h"
#include "braintrace/base/type.h"

namespace braintrace {

class Array {
 public:
  Array() : Array(Type{}) {}
  explicit Array(Type type);  // zero filled

  // Shares memory that the caller owns, without a copy; the array keeps `owner` alive. The pointer must be aligned to
  // the element size.
  static Array borrow(Type type, const void* data, std::shared_ptr<const void> owner);
  // Takes ownership of memory that nothing else uses; it must be large enough and aligned in the same way.
  static Array adopt(Type type, std::shared_ptr<void> memory);

  template <class T>
  static Array of(const std::vector<T>& values, Shape shape) {
    Array a(Type{dtype_of<T>, std::move(shape)});
    a.check_size(values.size());
    T* to = a.mutable_data<T>();
    for (const T& value : values) *to++ = value;
    return a;
  }
  static Array scalar(DType dtype, double value);

  const Type&  type() const { return type_; }
  DType        dtype() const { return type_.dtype; }
  const Shape& shape() const { return type_.shape; }
  int64_t      size() const { return type_.size(); }
  size_t       bytes() const { return static_cast<size_t>(type_.bytes()); }
  bool         is_only_owner() const;  // nothing else refers to the memory, so it may be overwritten
  bool         is_borrowed() const { return borrowed_; }
  Array        copy() const;  // in newly allocated memory

  const void* raw() const { return data_.get(); }
  void*       mutable_raw() { return const_cast<void*>(data_.get()); }
  template <class T>
  const T* data() const {
    check_dtype(dtype_of<T>);
    return static_cast<const T*>(raw());
  }
  template <class T>
  T* mutable_data() {
    check_dtype(dtype_of<T>);
    return static_cast<T*>(mutable_raw());
  }

  // Same storage, different shape of equal size.
  Array reshaped(Shape shape) const;

 private:
  Array(Type type, std::shared_ptr<const void> data, bool borrowed)
      : type_(std::move(type)), data_(std::move(data)), borrowed_(borrowed) {}
  void check_dtype(DType asked) const;
  void check_size(size_t given) const;

  Type                        type_;
  std::shared_ptr<const void> data_;
  bool                        borrowed_ = false;
};

// Elements as doubles (all dtypes) or as int64 (integers and bool), copying only if the storage differs.
class Doubles {
 public:
  explicit Doubles(const Array& a);
  double        operator[](int64_t i) const { return data_[i]; }
  const double* data() const { return data_; }

 private:
  Array               keep_;
  std::vector<double> copy_;
  const double*       data_;
};
class Integers {
 public:
  explicit Integers(const Array& a);
  int64_t        operator[](int64_t i) const { return data_[i]; }
  const int64_t* data() const { return data_; }

 private:
  Array                keep_;
  std::vector<int64_t> copy_;
  const int64_t*       data_;
};

// Rounds (floats) or wraps (integers) the values to `type`.
Array from_doubles(const Type& type, std::span<const double> values);
Array from_integers(const Type& type, std::span<const int64_t> values);
Array convert(const Array& a, DType dtype);

// Element i as a double, for tests, printing and small decisions on the host.
double at(const Array& a, int64_t i);

// Equal type and equal bits.
bool        identical(const Array& a, const Array& b);
std::string to_string(const Array& a, int64_t max_elements = 64);

}  // namespace braintrace
