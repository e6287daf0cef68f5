// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/array.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include <fmt/format.h>

#include "braintrace/base/machine.h"

namespace braintrace {

namespace {

constexpr size_t alignment = 64, page = 4096;

// Zeros that the system allocates page by page on the first write: large arrays that stay zero cost nothing. Large
// arrays start at different places within a page: arrays that are read in parallel would otherwise compete for the same
// lines of the L1 cache. An array that exceeds the memory of the machine is an error here, not when it is filled.
std::shared_ptr<void> allocate_zeros(size_t bytes) {
  static std::atomic<unsigned> count{0};
  const size_t                 shift = bytes >= 4 * page ? count++ % 7 * (page / 7 / alignment * alignment) : 0;
  const size_t                 space = bytes + shift + alignment;
  if (bytes > static_cast<size_t>(physical_memory())) throw std::bad_alloc();
  void* all = std::calloc(space, 1);
  if (!all) throw std::bad_alloc();
  void*  first = static_cast<char*>(all) + shift;
  size_t left  = space - shift;
  std::align(alignment, bytes, first, left);
  return {first, [all](void*) { std::free(all); }};
}

void check_shape(const Type& type) {
  int64_t n = 1;
  for (int64_t d : type.shape)
    require(d >= 0 && !__builtin_mul_overflow(n, d, &n) && n <= (int64_t{1} << 46), ErrorKind::Shape,
            "array: shape {} is negative somewhere or too large to hold.", to_string(type.shape));
}

// C++ leaves float -> integer out of range undefined; here it saturates and NaN becomes 0.
int64_t to_integer(double v) {
  if (std::isnan(v)) return 0;
  if (v >= 0x1p63) return INT64_MAX;
  if (v <= -0x1p63) return INT64_MIN;
  return static_cast<int64_t>(v);
}

template <class T>
T from_double(double v) {
  if constexpr (std::is_same_v<T, bool>)
    return v != 0;
  else if constexpr (std::is_same_v<T, int32_t>)
    return static_cast<T>(std::clamp(to_integer(v), int64_t{INT32_MIN}, int64_t{INT32_MAX}));
  else if constexpr (std::is_same_v<T, uint32_t>)
    return static_cast<T>(std::clamp(to_integer(v), int64_t{0}, int64_t{UINT32_MAX}));
  else if constexpr (std::is_same_v<T, int64_t>)
    return to_integer(v);
  else
    return static_cast<T>(v);
}

}  // namespace

Array::Array(Type type) : type_(std::move(type)) {
  check_shape(type_);
  data_ = allocate_zeros(bytes());
}

Array Array::borrow(Type type, const void* data, std::shared_ptr<const void> owner) {
  check_shape(type);
  require(reinterpret_cast<uintptr_t>(data) % size_of(type.dtype) == 0,
          "Array::borrow: {} needs memory aligned to {} bytes; copy the data instead.", to_string(type),
          size_of(type.dtype));
  return Array(std::move(type), {std::move(owner), data}, true);
}

Array Array::adopt(Type type, std::shared_ptr<void> memory) { return Array(std::move(type), std::move(memory), false); }

// Incrementing first ensures that any thread that released the memory has finished with it.
bool Array::is_only_owner() const {
  const std::shared_ptr<const void> counted = data_;
  return !borrowed_ && counted.use_count() == 2;
}

Array Array::copy() const {
  Array a(type_);
  std::memcpy(a.mutable_raw(), raw(), bytes());
  return a;
}

Array Array::scalar(DType dtype, double value) { return from_doubles({dtype, {}}, {&value, 1}); }

Array Array::reshaped(Shape shape) const {
  require(size_of(shape) == size(), ErrorKind::Shape, "reshape: {} holds {} elements, {} holds {}.", to_string(type_),
          size(), to_string(shape), size_of(shape));
  Array a       = *this;
  a.type_.shape = std::move(shape);
  return a;
}

void Array::check_dtype(DType asked) const {
  require(asked == dtype(), ErrorKind::DType, "array: the elements are {}, not {}; use convert() first.",
          name_of(dtype()), name_of(asked));
}
void Array::check_size(size_t given) const {
  require(static_cast<int64_t>(given) == size(), ErrorKind::Shape,
          "array: {} values do not fill shape {} of {} elements.", given, to_string(shape()), size());
}

Doubles::Doubles(const Array& a) : keep_(a) {
  if (a.dtype() == DType::F64) {
    data_ = a.data<double>();
    return;
  }
  copy_.resize(a.size());
  visit_dtype(a.dtype(), [&]<class T>(T) {
    const T* p = a.data<T>();
    for (int64_t i = 0; i < a.size(); ++i) copy_[i] = static_cast<double>(p[i]);
  });
  data_ = copy_.data();
}

Integers::Integers(const Array& a) : keep_(a) {
  ensure(!is_float(a.dtype()), "Integers: {} is not an integer type", name_of(a.dtype()));
  if (a.dtype() == DType::I64) {
    data_ = a.data<int64_t>();
    return;
  }
  copy_.resize(a.size());
  visit_dtype(a.dtype(), [&]<class T>(T) {
    const T* p = a.data<T>();
    for (int64_t i = 0; i < a.size(); ++i) copy_[i] = static_cast<int64_t>(static_cast<double>(p[i]));
  });
  data_ = copy_.data();
}

Array from_doubles(const Type& type, std::span<const double> values) {
  Array a(type);
  visit_dtype(type.dtype, [&]<class T>(T) {
    T* p = a.mutable_data<T>();
    for (int64_t i = 0; i < a.size(); ++i) p[i] = from_double<T>(values[i]);
  });
  return a;
}

Array from_integers(const Type& type, std::span<const int64_t> values) {
  Array a(type);
  visit_dtype(type.dtype, [&]<class T>(T) {
    T* p = a.mutable_data<T>();
    for (int64_t i = 0; i < a.size(); ++i) {
      if constexpr (std::is_same_v<T, bool>)
        p[i] = values[i] != 0;
      else if constexpr (std::is_integral_v<T>)
        p[i] = static_cast<T>(values[i]);
      else
        p[i] = static_cast<T>(static_cast<double>(values[i]));
    }
  });
  return a;
}

Array convert(const Array& a, DType dtype) {
  if (a.dtype() == dtype) return a;
  const Type type{dtype, a.shape()};
  if (is_float(a.dtype())) return from_doubles(type, {Doubles(a).data(), static_cast<size_t>(a.size())});
  return from_integers(type, {Integers(a).data(), static_cast<size_t>(a.size())});
}

double at(const Array& a, int64_t i) {
  return visit_dtype(a.dtype(), [&]<class T>(T) { return static_cast<double>(a.data<T>()[i]); });
}

bool identical(const Array& a, const Array& b) {
  return a.type() == b.type() && (a.raw() == b.raw() || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0);
}

std::string to_string(const Array& a, int64_t max_elements) {
  std::string out = to_string(a.type()) + " [";
  for (int64_t i = 0; i < std::min(a.size(), max_elements); ++i)
    out += fmt::format("{}{:.6g}", i ? ", " : "", at(a, i));
  return out + (a.size() > max_elements ? ", …]" : "]");
}

}  // namespace braintrace
