// SPDX-License-Identifier: Apache-2.0
// Element types. Floating values are computed in double and rounded once to their type; integers are
// computed in int64 and wrap to their width; bool is 0 or 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace braintrace {

enum class DType : uint8_t { F32, F64, F16, BF16, I32, I64, U32, Bool };

inline constexpr DType all_dtypes[] = {DType::F32, DType::F64, DType::F16, DType::BF16,
                                       DType::I32, DType::I64, DType::U32, DType::Bool};

std::string_view     name_of(DType t);
std::optional<DType> dtype_named(std::string_view name);
size_t               size_of(DType t);

constexpr bool is_float(DType t) { return t <= DType::BF16; }
constexpr bool is_integer(DType t) { return t >= DType::I32 && t <= DType::U32; }

// The type to which both operands of a mixed operation are converted: bool < u32 < i32 < i64 < floats, and the wider of
// two floats; f16 and bf16 are both converted to f32.
DType promote(DType a, DType b);

// Storage of the 16-bit types. Rounding is to nearest, ties to even, in one step from double.
struct Half {
  uint16_t bits = 0;
  Half()        = default;
  explicit Half(double value);
  explicit operator double() const;
};
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16()    = default;
  explicit BFloat16(double value);
  explicit operator double() const;
};

template <class T>
struct dtype_of_t;
template <>
struct dtype_of_t<float> {
  static constexpr DType value = DType::F32;
};
template <>
struct dtype_of_t<double> {
  static constexpr DType value = DType::F64;
};
template <>
struct dtype_of_t<Half> {
  static constexpr DType value = DType::F16;
};
template <>
struct dtype_of_t<BFloat16> {
  static constexpr DType value = DType::BF16;
};
template <>
struct dtype_of_t<int32_t> {
  static constexpr DType value = DType::I32;
};
template <>
struct dtype_of_t<int64_t> {
  static constexpr DType value = DType::I64;
};
template <>
struct dtype_of_t<uint32_t> {
  static constexpr DType value = DType::U32;
};
template <>
struct dtype_of_t<bool> {
  static constexpr DType value = DType::Bool;
};
template <class T>
inline constexpr DType dtype_of = dtype_of_t<T>::value;

// Calls f with a zero of the C++ type that stores `t`.
template <class F>
decltype(auto) visit_dtype(DType t, F&& f) {
  switch (t) {
    case DType::F32:
      return f(float{});
    case DType::F64:
      return f(double{});
    case DType::F16:
      return f(Half{});
    case DType::BF16:
      return f(BFloat16{});
    case DType::I32:
      return f(int32_t{});
    case DType::I64:
      return f(int64_t{});
    case DType::U32:
      return f(uint32_t{});
    case DType::Bool:
      break;
  }
  return f(bool{});
}

}  // namespace braintrace
