// SPDX-License-Identifier: Apache-2.0
#include "convert.h"

#include <cstring>
#include <limits>
#include <map>
#include <nanobind/ndarray.h>

#include "braintrace/model/environment.h"
#include "braintrace/ops/math.h"

namespace pybraintrace {

namespace {

struct NumpyType {
  bt::DType   dtype;
  const char* name;
  uint8_t     code, bits;  // DLPack's type code
  char        kind;        // NumPy's kind; it has no bfloat16
};
using Code                        = nb::dlpack::dtype_code;
constexpr NumpyType numpy_types[] = {
    {bt::DType::F32, "float32", static_cast<uint8_t>(Code::Float), 32, 'f'},
    {bt::DType::F64, "float64", static_cast<uint8_t>(Code::Float), 64, 'f'},
    {bt::DType::F16, "float16", static_cast<uint8_t>(Code::Float), 16, 'f'},
    {bt::DType::BF16, "bfloat16", static_cast<uint8_t>(Code::Bfloat), 16, 0},
    {bt::DType::I32, "int32", static_cast<uint8_t>(Code::Int), 32, 'i'},
    {bt::DType::I64, "int64", static_cast<uint8_t>(Code::Int), 64, 'i'},
    {bt::DType::U32, "uint32", static_cast<uint8_t>(Code::UInt), 32, 'u'},
    {bt::DType::Bool, "bool", static_cast<uint8_t>(Code::Bool), 8, 'b'},
};
const NumpyType& numpy_type(bt::DType dtype) { return numpy_types[static_cast<size_t>(dtype)]; }

// Modules are imported once and live as long as the process.
nb::handle numpy() {
  static const nb::handle module = nb::module_::import_("numpy").release();
  return module;
}
nb::handle numpy_array_type() {
  static const nb::handle type = nb::object(numpy().attr("ndarray")).release();
  return type;
}

std::string type_of(nb::handle h) { return nb::cast<std::string>(nb::str(h.type().attr("__name__"))); }

bool is_double_precision() { return bt::Environment::precision() == bt::DType::F64; }

// NumPy's array interface, `__array_struct__`: all facts about an array in one attribute.
struct ArrayInterface {
  int         two;
  int         ndim;
  char        kind;
  int         item_bytes;
  int         flags;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  void*       data;

  bool has(int flag) const { return flags & flag; }
};
constexpr int c_ordered = 0x1, native_order = 0x200;

// The memory of a C-ordered array, which keeps the array alive. None if tensors do not support its layout or type.
std::optional<bt::Array> borrowed(nb::handle array, std::optional<bt::DType> as = {}) {
  static PyObject* const question = PyUnicode_InternFromString("__array_struct__");
  nb::object             capsule  = nb::steal(PyObject_GetAttr(array.ptr(), question));
  if (!capsule.is_valid()) throw nb::python_error();
  const auto* a = static_cast<const ArrayInterface*>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (!a) throw nb::python_error();
  if (!a->has(c_ordered) || !a->has(native_order)) return {};
  for (const NumpyType& t : numpy_types)
    if (!as && t.kind == a->kind && t.bits == 8 * a->item_bytes) as = t.dtype;
  if (!as) return {};
  const bt::Type type{*as, bt::Shape(a->shape, a->shape + a->ndim)};
  if (type.size() == 0) return bt::Array(type);
  if (reinterpret_cast<uintptr_t>(a->data) % bt::size_of(*as) != 0) {  // NumPy allows it, machine code does not
    bt::Array copy(type);
    std::memcpy(copy.mutable_raw(), a->data, copy.bytes());
    return copy;
  }
  return bt::Array::borrow(type, a->data, hold(array));
}

bt::Tensor in_environment(bt::Array array) {
  if (is_double_precision()) return bt::Tensor(std::move(array));
  if (array.dtype() == bt::DType::F64) return bt::Tensor(bt::convert(array, bt::Environment::precision()));
  if (array.dtype() == bt::DType::I64) {
    const int64_t* v = array.data<int64_t>();
    for (int64_t i = 0; i < array.size(); ++i)
      bt::require(
          v[i] >= std::numeric_limits<int32_t>::min() && v[i] <= std::numeric_limits<int32_t>::max(),
          "an int64 array contains {}, which does not fit int32; call environ.set(precision=64) to keep 64 bits.",
          v[i]);
    return bt::Tensor(bt::convert(array, bt::DType::I32));
  }
  return bt::Tensor(std::move(array));
}

bt::Tensor from_numpy(nb::handle array) {
  if (auto as_it_is = borrowed(array)) return in_environment(*std::move(as_it_is));
  nb::object source = nb::borrow(array);
  const auto name   = nb::cast<std::string>(nb::str(array.attr("dtype").attr("name")));
  const bool is_bf  = name == "bfloat16";
  if (is_bf) source = source.attr("view")("uint16");
  for (const char* small : {"int8", "int16", "uint8", "uint16"})
    if (name == small) source = source.attr("astype")("int32");
  if (name == "uint64") {
    constexpr int64_t most = std::numeric_limits<int64_t>::max();
    bt::require(nb::cast<int64_t>(nb::object(source.attr("size"))) == 0 ||
                    nb::cast<bool>(nb::bool_(nb::object(source.attr("max")()) <= nb::int_(most))),
                "a uint64 array contains a number above {}, the largest that a tensor can hold.", most);
    source = source.attr("astype")("int64");
  }
  if (name == "longdouble" || name == "float128") source = source.attr("astype")("float64");
  source = nb::object(numpy().attr("ascontiguousarray")(source)).attr("reshape")(source.attr("shape"));
  if (!nb::cast<bool>(source.attr("dtype").attr("isnative")))
    source = source.attr("astype")(source.attr("dtype").attr("newbyteorder")("="));
  if (is_bf) return bt::Tensor(*borrowed(source, bt::DType::BF16));
  if (auto made = borrowed(source)) return in_environment(*std::move(made));
  throw nb::type_error(("an array of dtype " + name +
                        " cannot become a tensor; supported: float16, bfloat16, float32, "
                        "float64, integers and bool.")
                           .c_str());
}

// Masked elements have no value.
void require_unmasked(nb::handle array) {
  bt::require(!nb::cast<bool>(nb::bool_(numpy().attr("ma").attr("is_masked")(array))),
              "a masked array has masked elements; fill them first, such as with x.filled(0).");
}

[[noreturn]] void fail_on_device(nb::handle object, const std::string& device) {
  bt::fail(
      "an array of type {} is on a device that this package cannot read ({}); bring it to the CPU first, such as "
      "with x.cpu() of torch or x.get() of CuPy.",
      type_of(object), device);
}

// The devices of DLPack whose memory this machine's processor can read are the CPU and pinned memory of CUDA and ROCm.
void require_on_cpu(nb::handle object, int kind) {
  if (kind == 1 || kind == 3 || kind == 11) return;
  static const std::map<int, const char*> names = {{2, "CUDA"},  {4, "OpenCL"}, {7, "Vulkan"},        {8, "Metal"},
                                                   {10, "ROCm"}, {12, "other"}, {13, "managed CUDA"}, {14, "oneAPI"}};
  const auto                              it    = names.find(kind);
  fail_on_device(object, it == names.end() ? "DLPack kind " + std::to_string(kind) : it->second);
}

// bfloat16 memory of another library: shared if it is C-ordered, otherwise copied. None for other types.
std::optional<bt::Array> bfloat16_from(nb::handle object) {
  nb::ndarray<nb::array_api, nb::ro, nb::device::cpu> view;
  if (!nb::try_cast(object, view) || view.dtype() != nb::dlpack::dtype{static_cast<uint8_t>(Code::Bfloat), 16, 1})
    return {};
  bt::Type type{bt::DType::BF16, bt::Shape(view.shape_ptr(), view.shape_ptr() + view.ndim())};
  int64_t  expected = 1;
  bool     is_c     = true;
  for (size_t i = view.ndim(); i-- > 0; expected *= view.shape(i))
    is_c = is_c && (view.shape(i) == 1 || view.stride(i) == expected);
  if (is_c) return bt::Array::borrow(std::move(type), view.data(), hold(nb::cast(view)));
  bt::Array   copy(type);
  const auto* from = static_cast<const uint16_t*>(view.data());
  auto*       to   = static_cast<uint16_t*>(copy.mutable_raw());
  for (int64_t i = 0; i < copy.size(); ++i) {
    int64_t offset = 0, rest = i;
    for (size_t axis = view.ndim(); axis-- > 0; rest /= view.shape(axis))
      offset += rest % view.shape(axis) * view.stride(axis);
    to[i] = from[offset];
  }
  return copy;
}

// Arrays of other libraries: torch, JAX, CuPy.
bt::Tensor from_dlpack(nb::handle object) {
  if (!nb::hasattr(object, "__dlpack_device__"))  // such as a traced value of JAX
    nb::raise_type_error("an array of type %s has no elements to read; pass it outside of that library's tracing",
                         type_of(object).c_str());
  nb::object device = object.attr("__dlpack_device__")();
  require_on_cpu(object, nb::cast<int>(device[0]));
  if (nb::hasattr(object, "detach") && nb::hasattr(object, "requires_grad") &&
      nb::cast<bool>(object.attr("requires_grad")))
    return from_dlpack(object.attr("detach")());
  try {
    return from_numpy(numpy().attr("from_dlpack")(object));
  } catch (nb::python_error& error) {
    // NumPy does not know bfloat16. Other errors go to the caller.
    auto array = bfloat16_from(object);
    if (!array) throw;
    return bt::Tensor(*std::move(array));
  }
}

// Keeps the memory of an array alive while Python uses it.
nb::capsule owner_of(const bt::Array& array) {
  return nb::capsule(new bt::Array(array), [](void* p) noexcept { delete static_cast<bt::Array*>(p); });
}

}  // namespace

bool is_array(nb::handle h) { return nb::isinstance<bt::Tensor>(h) || h.type().is(numpy_array_type()); }

bool is_array_like(nb::handle h) {
  PyObject* o = h.ptr();
  if (nb::isinstance<bt::Tensor>(h) || PyFloat_Check(o) || PyLong_Check(o)) return true;
  if (PyUnicode_Check(o) || PyBytes_Check(o) || PyDict_Check(o) || h.is_none() || PyType_Check(o)) return false;
  if (h.type().is(numpy_array_type()) || PyList_Check(o) || PyTuple_Check(o)) return true;
  if (nb::hasattr(h, "mantissa") && nb::hasattr(h, "unit"))
    return false;  // a quantity defines its own operators with tensors
  for (const char* way : {"__array__", "__dlpack__", "__array_interface__", "__cuda_array_interface__"})
    if (nb::hasattr(h, way)) return true;
  return false;
}

bt::Tensor tensor_from(nb::handle h) {
  PyObject* o = h.ptr();
  if (nb::isinstance<bt::Tensor>(h)) return nb::cast<bt::Tensor>(h);
  if (h.type().is(numpy_array_type())) return from_numpy(h);
  if (PyBool_Check(o)) return bt::Tensor(bt::Array::scalar(bt::DType::Bool, o == Py_True));
  if (PyFloat_Check(o)) return bt::Tensor(PyFloat_AsDouble(o));
  if (PyLong_Check(o)) {
    const double v = PyLong_AsDouble(o);
    if (v == -1 && PyErr_Occurred()) throw nb::python_error();
    return bt::Tensor(v);
  }
  if (nb::hasattr(h, "mantissa") && nb::hasattr(h, "unit"))
    return tensor_from(nb::module_::import_("pybraintrace.units").attr("magnitude")(h));
  if (PyList_Check(o) || PyTuple_Check(o)) {
    // Numbers become one array; a list with tensors is stacked, so that traced ones stay traced.
    nb::object stack = nb::module_::import_("pybraintrace._arrays").attr("from_sequence")(h);
    return nb::isinstance<bt::Tensor>(stack) ? nb::cast<bt::Tensor>(stack) : from_numpy(stack);
  }
  if (nb::hasattr(h, "filled") && nb::hasattr(h, "mask")) require_unmasked(h);
  if (nb::hasattr(h, "__dlpack__") && !nb::isinstance(h, nb::object(numpy().attr("generic")))) return from_dlpack(h);
  if (nb::hasattr(h, "__cuda_array_interface__")) fail_on_device(h, "CUDA");
  if (nb::hasattr(h, "__array__") || nb::hasattr(h, "__array_interface__"))
    return from_numpy(numpy().attr("asarray")(h));
  throw nb::type_error(("expected a tensor, an array or a number, got " + type_of(h) + ".").c_str());
}

bt::Tensor owned(const bt::Tensor& tensor) {
  const bool has_elements = tensor.defined() && !tensor.is_traced() && !tensor.is_literal();
  return has_elements && tensor.array().is_borrowed() ? bt::Tensor(tensor.array().copy()) : tensor;
}

nb::object numpy_of(const bt::Tensor& tensor) {
  const bt::Array     array = tensor.array();
  const NumpyType&    type  = numpy_type(array.dtype());
  std::vector<size_t> shape(array.shape().begin(), array.shape().end());
  nb::dlpack::dtype   dtype{type.code, type.bits, 1};
  if (type.dtype == bt::DType::BF16) dtype = {static_cast<uint8_t>(Code::UInt), 16, 1};
  nb::ndarray<nb::numpy, nb::ro> view(array.raw(), shape.size(), shape.data(), owner_of(array), nullptr, dtype);
  nb::object                     out = nb::cast(view);
  if (type.dtype == bt::DType::BF16) out = out.attr("view")(numpy_dtype(bt::DType::BF16));
  return out;
}

nb::object dlpack_of(const bt::Tensor& tensor, bool shares) {
  const bt::Array     array = shares ? tensor.array() : tensor.array().copy();
  const NumpyType&    type  = numpy_type(array.dtype());
  std::vector<size_t> shape(array.shape().begin(), array.shape().end());
  const auto          view = [&]<class... Access>(Access...) {
    return nb::cast(nb::ndarray<nb::array_api, Access...>(const_cast<void*>(array.raw()), shape.size(), shape.data(),
                                                          owner_of(array), nullptr, {type.code, type.bits, 1}));
  };
  return shares ? view(nb::ro()) : view();
}

nb::object numpy_dtype(bt::DType dtype) {
  static PyObject* known[std::size(numpy_types)] = {};
  PyObject*&       entry                         = known[static_cast<size_t>(dtype)];
  if (!entry) {
    nb::object name = nb::str(numpy_type(dtype).name);
    if (dtype == bt::DType::BF16) name = nb::module_::import_("pybraintrace._arrays").attr("bfloat16")();
    entry = nb::object(numpy().attr("dtype")(name)).release().ptr();
  }
  return nb::borrow(entry);
}

bt::DType dtype_from(nb::handle h) {
  if (h.is(reinterpret_cast<PyObject*>(&PyFloat_Type))) return bt::Environment::precision();
  if (h.is(reinterpret_cast<PyObject*>(&PyBool_Type))) return bt::DType::Bool;
  if (h.is(reinterpret_cast<PyObject*>(&PyLong_Type))) return is_double_precision() ? bt::DType::I64 : bt::DType::I32;
  if (PyUnicode_Check(h.ptr()))
    if (const auto t = bt::dtype_named(nb::cast<std::string>(h))) return *t;
  std::string name;
  if (PyUnicode_Check(h.ptr()) && nb::cast<std::string>(h) == "bfloat16")
    name = "bfloat16";
  else
    name = nb::cast<std::string>(nb::str(nb::object(numpy().attr("dtype")(h)).attr("name")));
  for (const NumpyType& t : numpy_types)
    if (name == t.name) return t.dtype;
  throw nb::type_error(("dtype " + name +
                        " is not supported; supported: float16, bfloat16, float32, float64, int32, "
                        "int64, uint32 and bool.")
                           .c_str());
}

bt::Ints ints_from(nb::handle h) {
  bt::Ints out;
  if (PyIndex_Check(h.ptr())) {
    out.push_back(nb::cast<int64_t>(nb::int_(nb::borrow(h))));
    return out;
  }
  if (PyUnicode_Check(h.ptr()) || !nb::hasattr(h, "__iter__"))
    throw nb::type_error(("expected an integer or a sequence of integers, got " + type_of(h) + ".").c_str());
  for (nb::handle n : nb::iter(h)) {
    PyObject* index = PyNumber_Index(n.ptr());
    if (!index) throw nb::python_error();
    out.push_back(nb::cast<int64_t>(nb::steal(index)));
  }
  return out;
}

nb::object tuple_of(const bt::Ints& ints) {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(ints.size()));
  if (!tuple) throw nb::python_error();
  for (size_t i = 0; i < ints.size(); ++i)
    PyTuple_SetItem(tuple, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(ints[i]));
  return nb::steal(tuple);
}

bt::Tensor positions_from(const Arg& x) {
  const bt::Tensor t = x;
  return t.is_weak() && PyLong_Check(x.source.ptr()) ? bt::convert(t, bt::DType::I32) : t;
}

bt::Shape shape_from(nb::handle h) {
  bt::Shape shape = ints_from(h);
  for (int64_t n : shape)
    bt::require(n >= 0, "a shape cannot contain the negative size {}; got {}.", n, bt::to_string(shape));
  return shape;
}

bt::Tensor in_floats(const bt::Tensor& x) {
  return bt::is_float(x.dtype()) || x.is_weak() ? x : x.astype(bt::Environment::precision());
}
bt::Tensor meeting(const bt::Tensor& x, nb::handle other) { return PyFloat_Check(other.ptr()) ? in_floats(x) : x; }

bt::Axes axes_from(nb::handle h) { return h.is_none() ? bt::Axes() : bt::Axes(ints_from(h)); }

bt::Path path_from(nb::handle h) {
  if (PyUnicode_Check(h.ptr())) return bt::Path::dotted(nb::cast<std::string>(h));
  bt::Path path;
  for (nb::handle key : nb::iter(h)) path = path / nb::cast<std::string>(nb::str(key));
  return path;
}

nb::object tuple_of(const bt::Path& path) {
  nb::list keys;
  for (const std::string& key : path.keys())
    if (bt::Path::is_index(key))
      keys.append(nb::steal(PyLong_FromString(key.c_str(), nullptr, 10)));
    else
      keys.append(key);
  return nb::tuple(keys);
}

bt::Leaves leaves_from(nb::handle value) {
  bt::Leaves leaves;
  if (PyDict_Check(value.ptr())) {
    for (const auto& [key, leaf] : nb::borrow<nb::dict>(value)) {
      if (!PyUnicode_Check(key.ptr()) || PyDict_Check(leaf.ptr()))
        throw nb::type_error("expected the value of a state to be an array or a dict of names to arrays.");
      leaves[nb::cast<std::string>(key)] = tensor_from(leaf);
    }
    bt::require(!leaves.empty(), "expected a value for a state, got an empty dict.");
  } else {
    leaves[""] = tensor_from(value);
  }
  return leaves;
}

nb::object value_of(const bt::Leaves& leaves) {
  if (leaves.size() == 1 && leaves.begin()->first.empty()) return nb::cast(leaves.begin()->second);
  nb::dict out;
  for (const auto& [name, leaf] : leaves) out[nb::str(name.c_str())] = nb::cast(leaf);
  return out;
}

nb::object dict_of(const bt::Gradients& gradients) {
  nb::dict out;
  for (const auto& [path, leaves] : gradients) out[tuple_of(path)] = value_of(leaves);
  return out;
}

bt::Gradients gradients_from(nb::handle dict) {
  if (!PyDict_Check(dict.ptr()))
    throw nb::type_error("expected gradients as a dict of paths to values, as grad returns them.");
  bt::Gradients::Map map;
  for (const auto& [path, value] : nb::borrow<nb::dict>(dict)) map[path_from(path)] = leaves_from(value);
  return bt::Gradients(std::move(map));
}

bt::Tensors tensors_from(nb::handle sequence) {
  bt::Tensors out;
  for (nb::handle h : nb::iter(sequence)) out.push_back(tensor_from(h));
  return out;
}

}  // namespace pybraintrace
