// SPDX-License-Identifier: Apache-2.0
// Conversion of values between Python and C++: tensors and arrays, element types, shapes, paths.
//
// To C++: a Tensor unchanged; a Python number as a weak tensor; NumPy arrays and objects with DLPack or __array__
// without a copy if their layout allows it. Double-precision arrays follow the precision of the environment, and with
// them integers of 64 bits: f64 → f32 and i64 → i32 unless the precision is 64.
// To Python: arrays are read-only views of our memory.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>

#include "braintrace/functions/gradients.h"
#include "braintrace/ir/tensor.h"
#include "braintrace/model/path.h"
#include "gil.h"
#include "ref.h"

namespace bt = braintrace;
using namespace nb::literals;

namespace pybraintrace {

// A tensor or a NumPy array: what most leaves are.
bool is_array(nb::handle object);
// Whether an object can be a tensor at all: a number, an array, a sequence of such.
bool is_array_like(nb::handle object);
// Throws TypeError or UserError with the place.
bt::Tensor tensor_from(nb::handle object);
// The tensor, with memory of its own if it shares that of another library.
bt::Tensor owned(const bt::Tensor& tensor);
nb::object numpy_of(const bt::Tensor& tensor);  // a read-only view
// An object with __dlpack__: of the memory itself, marked read-only, or of a copy.
nb::object dlpack_of(const bt::Tensor& tensor, bool shares);

bt::DType  dtype_from(nb::handle object);
nb::object numpy_dtype(bt::DType dtype);
bt::Ints   ints_from(nb::handle object);  // one number or a sequence
nb::object tuple_of(const bt::Ints& ints);
bt::Axes   axes_from(nb::handle object);  // None: all

bt::Path   path_from(nb::handle object);  // ('rnn', 'h') or "rnn.h"
nb::object tuple_of(const bt::Path& path);

// A result that may share memory with the array it came from.
struct Shared {
  bt::Tensor tensor;
};

// One tensor, or a dict of leaves.
bt::Leaves leaves_from(nb::handle value);
nb::object value_of(const bt::Leaves& leaves);
// {path: value}, and back.
nb::object    dict_of(const bt::Gradients& gradients);
bt::Gradients gradients_from(nb::handle dict);

// An argument that is converted to T when it is used, so that errors have our own messages.
template <class T>
struct Convert;  // from(handle), name: as type hints write it
template <class T>
struct Given {
  nb::handle source;

  T get() const { return Convert<T>::from(source); }
    operator T() const { return get(); }
};

template <>
struct Convert<bt::Tensor> {
  static bt::Tensor     from(nb::handle h) { return tensor_from(h); }
  static constexpr auto name = nb::detail::const_name("pybraintrace.typing.ArrayLike");
};
template <>
struct Convert<bt::DType> {
  static bt::DType      from(nb::handle h) { return dtype_from(h); }
  static constexpr auto name = nb::detail::const_name("pybraintrace.typing.DTypeLike");
};
template <>
struct Convert<bt::Ints> {
  static bt::Ints       from(nb::handle h) { return ints_from(h); }
  static constexpr auto name = nb::detail::const_name("int | collections.abc.Sequence[int]");
};
template <>
struct Convert<bt::Axes> {
  static bt::Axes       from(nb::handle h) { return axes_from(h); }
  static constexpr auto name = nb::detail::const_name("int | collections.abc.Sequence[int] | None");
};
template <>
struct Convert<bt::Path> {
  static bt::Path       from(nb::handle h) { return path_from(h); }
  static constexpr auto name = nb::detail::const_name("collections.abc.Sequence[str | int] | str");
};

using Arg   = Given<bt::Tensor>;
using Dims  = Given<bt::Ints>;
using Dtype = Given<bt::DType>;

inline bt::Tensor given(const std::optional<Arg>& a) { return a ? a->get() : bt::Tensor(); }
template <class T>
std::optional<T> given_or_none(const std::optional<Given<T>>& a) {
  return a ? std::optional<T>(a->get()) : std::nullopt;
}

bt::Tensors tensors_from(nb::handle sequence);

// Whole numbers as floats of the default type; floats as they are.
bt::Tensor in_floats(const bt::Tensor& x);
// x as an operand next to a Python value: a Python float, also 2.0, makes integers floats.
bt::Tensor meeting(const bt::Tensor& x, nb::handle other);
// Positions: a Python integer is an integer, not a number of any type.
bt::Tensor positions_from(const Arg& x);
// A shape; throws UserError where a size is negative.
bt::Shape shape_from(nb::handle object);

}  // namespace pybraintrace

NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)

// Results never change when a caller writes to an array: a function that only passes its memory on gives a copy of it.
template <>
struct type_caster<braintrace::Tensor> : type_caster_base<braintrace::Tensor> {
  using Base = type_caster_base<braintrace::Tensor>;

  template <class T>
  static handle from_cpp(T&& value, rv_policy policy, cleanup_list* cleanup) noexcept {
    if constexpr (is_pointer_v<T>) {
      return Base::from_cpp(value, policy, cleanup);
    } else {
      try {
        return Base::from_cpp(pybraintrace::owned(value), rv_policy::move, cleanup);
      } catch (const std::bad_alloc&) {
        return PyErr_NoMemory();
      }
    }
  }
};

template <>
struct type_caster<pybraintrace::Shared> {
  NB_TYPE_CASTER(pybraintrace::Shared, type_caster_base<braintrace::Tensor>::Name)
  static handle from_cpp(const pybraintrace::Shared& v, rv_policy, cleanup_list* cleanup) noexcept {
    return type_caster_base<braintrace::Tensor>::from_cpp(v.tensor, rv_policy::copy, cleanup);
  }
};

// None is a value like others here: it may stand for "no bias" or "all axes".
template <class T>
struct has_arg_defaults<pybraintrace::Given<T>> : std::true_type {};

template <class T>
struct type_caster<pybraintrace::Given<T>> {
  NB_TYPE_CASTER(pybraintrace::Given<T>, pybraintrace::Convert<T>::name)
  bool from_python(handle src, uint8_t, cleanup_list*) noexcept {
    value.source = src;
    // The other operand may implement the operator for tensors.
    return !std::is_same_v<T, braintrace::Tensor> || pybraintrace::is_array_like(src);
  }
  static handle from_cpp(const pybraintrace::Given<T>& v, rv_policy, cleanup_list*) { return v.source.inc_ref(); }
};

NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)
