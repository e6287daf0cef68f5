// SPDX-License-Identifier: Apache-2.0
// The places where a function finds its parts (modules, states, learners, optimizers, functions): attributes, lists,
// dicts, global variables and variables of enclosing functions. If one of them holds another part later, a program
// traced before is not that of the function any more.
#pragma once

#include <nanobind/nanobind.h>
#include <set>
#include <vector>

namespace nb = nanobind;

namespace pybraintrace {

class Places {
 public:
  void add_function(nb::handle f);
  void add_object(nb::handle object);  // its attributes
  // Whether each place still holds what it held.
  bool are_unchanged() const;

  int traverse(visitproc visit, void* arg) const;

 private:
  enum class Kind : uint8_t { Dict, List, Length, Cell };
  struct Place {
    Kind       kind;
    nb::object holder, key;  // key: of a dict
    Py_ssize_t index;        // in a list, or its length
    nb::object found;

    bool is_unchanged() const;
  };

  // Whether `value` is a part or contains one; adds the places inside it.
  bool add_value(nb::handle value);
  bool add_items(nb::handle list);
  bool add_entries(nb::handle dict);
  void add_globals(nb::handle code, nb::handle globals);
  bool is_new(nb::handle object) { return seen_.insert(object.ptr()).second; }

  std::vector<Place>        places_;
  std::set<const PyObject*> seen_;
};

// Lists the modules that this thread calls while it lives.
class CalledModules {
 public:
  CalledModules();
  ~CalledModules();
  CalledModules(const CalledModules&)            = delete;
  CalledModules& operator=(const CalledModules&) = delete;

  static void add(nb::handle module);

  const std::vector<nb::object>& modules() const { return modules_; }

 private:
  CalledModules*          outer_;
  std::vector<nb::object> modules_;
};

}  // namespace pybraintrace
