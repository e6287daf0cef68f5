// SPDX-License-Identifier: Apache-2.0
// Trees of Python values: tuples, named tuples, lists, dicts (by sorted keys), dataclasses, None, classes registered
// with `register`, and leaves. Whatever is none of these is a leaf.
#pragma once

#include <string>
#include <vector>

#include "convert.h"

namespace pybraintrace {

// One more level of nesting: a value that contains itself ends in a RecursionError, not in a stack overflow.
class Nested {
 public:
  Nested() {
    if (Py_EnterRecursiveCall(" in nested lists, tuples or dicts")) throw nb::python_error();
  }
  ~Nested() { Py_LeaveRecursiveCall(); }
  Nested(const Nested&)            = delete;
  Nested& operator=(const Nested&) = delete;
};

class Tree {
 public:
  enum class Kind : uint8_t { Leaf, None, Tuple, NamedTuple, List, Dict, Dataclass, Registered, Static };
  using Leaves = std::vector<nb::object>;

  // The structure of `value`; its leaves are appended. `is_static` (may be null) says which leaves belong to the
  // structure, `is_leaf` (a Python function, may be invalid) which other values are leaves.
  static Tree of(nb::handle value, Leaves& leaves, bool (*is_static)(nb::handle) = nullptr, nb::handle is_leaf = {});
  // `value` itself is part of the structure.
  void add_static(nb::handle value) { nodes_.push_back({Kind::Static, 0, hold(value)}); }
  void add(nb::handle value, Leaves& leaves, bool (*is_static)(nb::handle) = nullptr, nb::handle is_leaf = {});
  void append(const Tree& other) { nodes_.insert(nodes_.end(), other.nodes_.begin(), other.nodes_.end()); }
  void open(Kind kind, size_t size, nb::handle aux = {}) {
    nodes_.push_back({kind, size, aux.is_valid() ? hold(aux) : nullptr});
  }

  nb::object unflatten(const std::vector<nb::object>& leaves) const;
  nb::object unflatten(const bt::Tensors& leaves) const;
  size_t     num_leaves() const;
  // Equal for equal structures. `statics` numbers what is compared by ==: keys, classes and static values.
  std::string key(nb::dict& statics) const;
  bool        operator==(const Tree& other) const;
  std::string text() const;

 private:
  struct Node {
    Kind   kind;
    size_t size;
    Ref    aux;  // keys, class or value
  };
  template <class Next>
  nb::object build(size_t& at, Next& next) const;

  std::vector<Node> nodes_;  // each before its children
};

// A class whose instances are nodes: flatten(x) gives (children, aux), unflatten(aux, children) an instance.
void register_node(nb::handle type, nb::handle flatten, nb::handle unflatten);

// Leaves as tensors; throws TypeError that names the place.
bt::Tensors tensors_of(const Tree::Leaves& leaves, const char* where);
// An instance of a dataclass.
bool is_dataclass(nb::handle value);
// Models and functions passed to a transform as arguments are kept unchanged.
bool is_captured(nb::handle value);

}  // namespace pybraintrace
