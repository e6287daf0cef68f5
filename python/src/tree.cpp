// SPDX-License-Identifier: Apache-2.0
#include "tree.h"

#include "module.h"

namespace pybraintrace {

namespace {

struct Registered {
  nb::handle type, flatten, unflatten;  // for the life of the process
};
std::vector<Registered>& registered() {
  static std::vector<Registered> list;
  return list;
}
const Registered* registration(nb::handle type) {
  for (const Registered& r : registered())
    if (r.type.is(type)) return &r;
  return nullptr;
}

// Lists, tuples and dicts themselves; their subclasses may be registered.
bool is_plain(PyObject* o) { return PyTuple_CheckExact(o) || PyList_CheckExact(o) || PyDict_CheckExact(o); }

// Sorted keys; keys that cannot be compared keep the order of the dict.
nb::list sorted_keys(nb::handle dict) {
  nb::list keys(nb::steal(PyDict_Keys(dict.ptr())));
  if (PyList_Sort(keys.ptr()) != 0) PyErr_Clear();
  return keys;
}

}  // namespace

void register_node(nb::handle type, nb::handle flatten, nb::handle unflatten) {
  registered().push_back({nb::borrow(type).release(), nb::borrow(flatten).release(), nb::borrow(unflatten).release()});
}

Tree Tree::of(nb::handle value, Leaves& leaves, bool (*is_static)(nb::handle), nb::handle is_leaf) {
  Tree tree;
  tree.add(value, leaves, is_static, is_leaf);
  return tree;
}

void Tree::add(nb::handle value, Leaves& leaves, bool (*is_static)(nb::handle), nb::handle is_leaf) {
  PyObject* o = value.ptr();
  if (is_array(value) || (is_leaf.is_valid() && nb::cast<bool>(nb::bool_(is_leaf(value))))) {
    nodes_.push_back({Kind::Leaf, 0, nullptr});
    leaves.push_back(nb::borrow(value));
    return;
  }
  const Nested nested;
  if (value.is_none()) {
    nodes_.push_back({Kind::None, 0, nullptr});
  } else if (const Registered* r = is_plain(o) ? nullptr : registration(value.type())) {
    nb::object parts    = r->flatten(value);
    nb::object first    = parts[0];
    nb::tuple  children = nb::tuple(first);
    nodes_.push_back({Kind::Registered, children.size(), hold(nb::make_tuple(value.type(), nb::object(parts[1])))});
    for (nb::handle child : children) add(child, leaves, is_static, is_leaf);
  } else if (PyTuple_Check(o)) {
    const bool is_named = nb::hasattr(value.type(), "_fields");
    const auto n        = static_cast<size_t>(PyTuple_Size(o));
    nodes_.push_back({is_named ? Kind::NamedTuple : Kind::Tuple, n, is_named ? hold(value.type()) : nullptr});
    for (size_t i = 0; i < n; ++i) add(PyTuple_GetItem(o, static_cast<Py_ssize_t>(i)), leaves, is_static, is_leaf);
  } else if (PyList_Check(o)) {
    const auto n = static_cast<size_t>(PyList_Size(o));
    nodes_.push_back({Kind::List, n, nullptr});
    for (size_t i = 0; i < n; ++i) add(PyList_GetItem(o, static_cast<Py_ssize_t>(i)), leaves, is_static, is_leaf);
  } else if (PyDict_Check(o)) {
    if (PyDict_Size(o) == 0) {
      nodes_.push_back({Kind::Dict, 0, nullptr});
      return;
    }
    nb::list keys = sorted_keys(value);
    nodes_.push_back({Kind::Dict, keys.size(), hold(nb::tuple(keys))});
    for (nb::handle key : keys) add(PyDict_GetItemWithError(o, key.ptr()), leaves, is_static, is_leaf);
  } else if (is_static && is_static(value)) {
    add_static(value);
  } else if (is_dataclass(value)) {
    nb::list names(nb::object(value.attr("__dataclass_fields__").attr("keys")()));
    nodes_.push_back({Kind::Dataclass, names.size(), hold(value.type())});
    for (nb::handle name : names) add(nb::object(nb::getattr(value, name)), leaves, is_static, is_leaf);
  } else {
    nodes_.push_back({Kind::Leaf, 0, nullptr});
    leaves.push_back(nb::borrow(value));
  }
}

template <class Next>
nb::object Tree::build(size_t& at, Next& next) const {
  const Node& node = nodes_[at++];
  switch (node.kind) {
    case Kind::Leaf:
      return next();
    case Kind::None:
      return nb::none();
    case Kind::Static:
      return nb::borrow(node.aux.get());
    case Kind::Dict: {
      nb::dict out;
      if (node.size == 0) return out;
      for (nb::handle key : nb::borrow<nb::tuple>(node.aux.get())) out[key] = build(at, next);
      return out;
    }
    case Kind::List: {
      nb::list out;
      for (size_t i = 0; i < node.size; ++i) out.append(build(at, next));
      return out;
    }
    default:
      break;
  }
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(node.size));
  if (!tuple) throw nb::python_error();
  nb::object items = nb::steal(tuple);
  for (size_t i = 0; i < node.size; ++i)
    PyTuple_SetItem(tuple, static_cast<Py_ssize_t>(i), build(at, next).release().ptr());
  switch (node.kind) {
    case Kind::NamedTuple:
      return nb::handle(node.aux.get())(*nb::borrow<nb::tuple>(items));
    case Kind::Dataclass: {
      // Without calling __init__, which may check or compute.
      nb::handle type = node.aux.get();
      nb::object out  = type.attr("__new__")(type);
      nb::list   names(nb::object(type.attr("__dataclass_fields__").attr("keys")()));
      nb::handle set = nb::handle(reinterpret_cast<PyObject*>(&PyBaseObject_Type)).attr("__setattr__");
      for (size_t i = 0; i < node.size; ++i) set(out, names[i], items[i]);
      return out;
    }
    case Kind::Registered: {
      nb::handle aux = node.aux.get();
      nb::object type(aux[0]), data(aux[1]);
      return registration(type)->unflatten(data, items);
    }
    default:
      return items;
  }
}

nb::object Tree::unflatten(const std::vector<nb::object>& leaves) const {
  size_t at = 0, leaf = 0;
  auto   next = [&] { return leaves.at(leaf++); };
  return build(at, next);
}

nb::object Tree::unflatten(const bt::Tensors& leaves) const {
  size_t at = 0, leaf = 0;
  auto   next = [&] { return nb::cast(leaves.at(leaf++)); };
  return build(at, next);
}

size_t Tree::num_leaves() const {
  size_t n = 0;
  for (const Node& node : nodes_) n += node.kind == Kind::Leaf;
  return n;
}

std::string Tree::key(nb::dict& statics) const {
  std::string out;
  out.reserve(64);
  for (const Node& node : nodes_) {
    out += static_cast<char>('a' + static_cast<int>(node.kind));
    if (node.kind == Kind::Leaf || node.kind == Kind::None) continue;
    if (node.kind != Kind::Static) out.append(reinterpret_cast<const char*>(&node.size), sizeof node.size);
    if (!node.aux) continue;
    nb::handle value = node.aux.get();
    PyObject*  number;
    // 1, 1.0 and True are equal but different values.
    nb::object keyed = node.kind == Kind::Static ? nb::object(nb::make_tuple(value.type(), value)) : nb::borrow(value);
    if (PyObject_Hash(keyed.ptr()) == -1 && PyErr_Occurred()) {
      nb::python_error cause;
      nb::raise_type_error(
          "a static argument of type %s cannot be hashed: %s. Static arguments need __hash__ and "
          "__eq__; pass arrays as ordinary arguments.",
          nb::cast<std::string>(nb::str(value.type().attr("__name__"))).c_str(),
          nb::cast<std::string>(nb::str(cause.value())).c_str());
    }
    number = PyDict_GetItemWithError(statics.ptr(), keyed.ptr());
    if (!number) {
      if (PyErr_Occurred()) throw nb::python_error();
      nb::object fresh = nb::int_(statics.size());
      statics[keyed]   = fresh;
      number           = PyDict_GetItemWithError(statics.ptr(), keyed.ptr());
    }
    const long id = PyLong_AsLong(number);
    out.append(reinterpret_cast<const char*>(&id), sizeof id);
  }
  return out;
}

bool Tree::operator==(const Tree& other) const {
  nb::dict statics;
  return key(statics) == other.key(statics);
}

std::string Tree::text() const {
  std::vector<nb::object> stars(num_leaves());
  for (nb::object& s : stars) s = nb::module_::import_("pybraintrace._arrays").attr("LEAF");
  return nb::cast<std::string>(nb::repr(unflatten(stars)));
}

bt::Tensors tensors_of(const Tree::Leaves& leaves, const char* where) {
  bt::Tensors out;
  out.reserve(leaves.size());
  for (const nb::object& leaf : leaves) {
    if (nb::isinstance<bt::Tensor>(leaf)) {
      out.push_back(*nb::inst_ptr<bt::Tensor>(leaf));
      continue;
    }
    if (!is_array_like(leaf) && !nb::hasattr(leaf, "mantissa"))
      nb::raise_type_error(
          "%s: %s is not an array; arguments and results are arrays, numbers, tuples, lists, dicts and dataclasses."
          "%s",
          where, nb::cast<std::string>(nb::repr(leaf)).c_str(),
          std::string(where) == "jit" ? " Mark it with static_argnums or static_argnames." : "");
    out.push_back(tensor_from(leaf));
    if (!out.back().is_weak()) continue;
    // A Python number becomes a value of a definite type: programs are compiled for types.
    const bool is_whole = PyLong_Check(leaf.ptr()) && !PyBool_Check(leaf.ptr());
    out.back() = bt::Tensor(bt::Array::scalar(is_whole ? bt::DType::I32 : out.back().dtype(), out.back().fill()));
  }
  return out;
}

bool is_dataclass(nb::handle value) {
  PyObject* o = value.ptr();
  return !PyType_Check(o) && !PyFloat_Check(o) && !PyLong_Check(o) && nb::hasattr(value, "__dataclass_fields__");
}

bool is_captured(nb::handle value) {
  return nb::isinstance<bt::Module>(value) || nb::isinstance<StateBox>(value) || PyCallable_Check(value.ptr());
}

}  // namespace pybraintrace
