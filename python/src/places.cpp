// SPDX-License-Identifier: Apache-2.0
#include "places.h"

#include <algorithm>
#include <utility>

#include "braintrace/model/module.h"
#include "tree.h"

namespace pybraintrace {

namespace {

thread_local CalledModules* innermost = nullptr;

// An instance of a class of this package. Captured tensors are frozen when a function is traced.
bool is_ours(nb::handle value) { return nb::type_check(value.type()) && !nb::isinstance<bt::Tensor>(value); }

// A class of Python that nanobind has no name for. It lives as long as the process.
nb::handle imported(const char* module, const char* name) {
  return nb::object(nb::module_::import_(module).attr(name)).release();
}
bool is_function(nb::handle value) {
  static const nb::handle type = imported("types", "FunctionType");
  return nb::isinstance(value, type);
}
bool is_method(nb::handle value) {
  static const nb::handle type = imported("types", "MethodType");
  return nb::isinstance(value, type);
}
bool is_partial(nb::handle value) {
  static const nb::handle type = imported("functools", "partial");
  return nb::isinstance(value, type);
}

nb::object contents(nb::handle cell) { return nb::getattr(cell, "cell_contents", nb::none()); }

}  // namespace

bool Places::Place::is_unchanged() const {
  PyObject* h = holder.ptr();
  switch (kind) {
    case Kind::Dict:
      return PyDict_GetItemWithError(h, key.ptr()) == found.ptr();
    case Kind::List:
      return index < PyList_Size(h) && PyList_GetItem(h, index) == found.ptr();
    case Kind::Length:
      return index == PyObject_Size(h);
    case Kind::Cell:
      return contents(holder).is(found);
  }
  return false;
}

bool Places::are_unchanged() const {
  return std::all_of(places_.begin(), places_.end(), [](const Place& p) { return p.is_unchanged(); });
}

void Places::add_function(nb::handle f) {
  if (is_method(f)) {
    add_object(f.attr("__self__"));
    return add_function(f.attr("__func__"));
  }
  if (is_partial(f)) {
    for (const char* name : {"func", "args", "keywords"}) add_value(nb::getattr(f, name, nb::none()));
    return;
  }
  if (!is_function(f)) return add_object(f);
  if (!is_new(f)) return;
  const nb::object code = f.attr("__code__"), closure = f.attr("__closure__");
  if (!closure.is_none())
    for (nb::handle cell : nb::borrow<nb::tuple>(closure))
      if (nb::object value = contents(cell); add_value(value))
        places_.push_back({Kind::Cell, nb::borrow(cell), {}, 0, std::move(value)});
  for (const char* name : {"__defaults__", "__kwdefaults__"}) add_value(f.attr(name));
  add_globals(code, f.attr("__globals__"));
}

// Functions of other files belong to libraries more often than to the model.
void Places::add_globals(nb::handle code, nb::handle globals) {
  for (nb::handle name : nb::borrow<nb::tuple>(code.attr("co_names"))) {
    nb::object value = nb::borrow(PyDict_GetItemWithError(globals.ptr(), name.ptr()));
    if (!value.is_valid() || (is_function(value) && !value.attr("__globals__").is(globals))) continue;
    if (add_value(value)) places_.push_back({Kind::Dict, nb::borrow(globals), nb::borrow(name), 0, std::move(value)});
  }
  for (nb::handle inner : nb::borrow<nb::tuple>(code.attr("co_consts")))  // functions inside this one
    if (nb::hasattr(inner, "co_names")) add_globals(inner, globals);
}

void Places::add_object(nb::handle object) {
  if (nb::object attributes = nb::getattr(object, "__dict__", nb::none());
      PyDict_Check(attributes.ptr()) && is_new(object))
    add_entries(attributes);
}

bool Places::add_value(nb::handle value) {
  const Nested nested;
  PyObject*    o = value.ptr();
  if (is_ours(value)) {
    if (nb::isinstance<bt::Module>(value)) add_object(value);
    return true;
  }
  if (PyList_Check(o) || PyTuple_Check(o)) return add_items(value);
  if (PyDict_Check(o)) return add_entries(value);
  if (PyType_Check(o) || PyModule_Check(o)) return false;
  if (is_dataclass(value)) return add_entries(nb::getattr(value, "__dict__", nb::dict()));
  if (!is_function(value) && !is_method(value) && !is_partial(value)) return false;
  add_function(value);
  return true;
}

bool Places::add_items(nb::handle list) {
  if (!is_new(list)) return true;
  bool             holds_parts = false;
  const Py_ssize_t length      = PyObject_Size(list.ptr());
  for (Py_ssize_t i = 0; i < length && i < PyObject_Size(list.ptr()); ++i) {
    nb::object item = list[i];
    if (!add_value(item)) continue;
    holds_parts = true;
    if (PyList_Check(list.ptr())) places_.push_back({Kind::List, nb::borrow(list), {}, i, std::move(item)});
  }
  if (holds_parts && PyList_Check(list.ptr())) places_.push_back({Kind::Length, nb::borrow(list), {}, length, {}});
  return holds_parts;
}

bool Places::add_entries(nb::handle dict) {
  if (!is_new(dict)) return true;
  bool             holds_parts = false;
  const nb::object copied      = dict.attr("copy")();
  for (const auto& [key, item] : nb::borrow<nb::dict>(copied)) {
    if (!add_value(item)) continue;
    holds_parts = true;
    places_.push_back({Kind::Dict, nb::borrow(dict), nb::borrow(key), 0, nb::borrow(item)});
  }
  return holds_parts;
}

int Places::traverse(visitproc visit, void* arg) const {
  for (const Place& p : places_) {
    Py_VISIT(p.holder.ptr());
    Py_VISIT(p.key.ptr());
    Py_VISIT(p.found.ptr());
  }
  return 0;
}

CalledModules::CalledModules() : outer_(std::exchange(innermost, this)) {}
CalledModules::~CalledModules() { innermost = outer_; }

void CalledModules::add(nb::handle module) {
  for (CalledModules* all = innermost; all; all = all->outer_) {
    const auto is_same = [&](const nb::object& m) { return m.is(module); };
    if (std::none_of(all->modules_.begin(), all->modules_.end(), is_same)) all->modules_.push_back(nb::borrow(module));
  }
}

}  // namespace pybraintrace
