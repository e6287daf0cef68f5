// SPDX-License-Identifier: Apache-2.0
// Modules and states as Python objects.
//
// A Python subclass of Module writes `update`; its children and states are what its attributes hold, found by walking
// attributes, lists, tuples and dicts on each request.
#pragma once

#include <nanobind/trampoline.h>

#include "braintrace/model/module.h"
#include "tree.h"

namespace pybraintrace {

// A state as a Python object. model.states() returns the same objects that Python created.
struct StateBox {
  bt::State state;

  explicit StateBox(bt::State s) : state(std::move(s)) {}
  virtual ~StateBox();
  StateBox(const StateBox&)            = delete;
  StateBox& operator=(const StateBox&) = delete;
};
nb::object   object_of(const bt::State& state);     // the existing one, or a new one
nb::object   known_object(const bt::State& state);  // invalid if there is none
void         remember(nb::handle object, StateBox& box);
nb::object   dict_of(const bt::StateMap& states);  // {path: state}
bt::StateMap states_from(nb::handle object);       // the same, a list of states, a module, or one state

// The part of a module that Python writes.
template <class Base>
class PyModuleOf;

// What every module that is written in Python keeps.
class PyParts {
 public:
  virtual ~PyParts() = default;
  // How flat inputs are put together for `update`, and what it returned last.
  std::optional<Tree> input;
  Tree                output;

  nb::handle self() const { return self_; }

 protected:
  bt::Tensors call_update(bt::Module& module, const bt::Tensors& xs);
  void        bring_up_to_date(bt::Module& module);
  void        call_hook(const char* name, bt::BatchSize batch);
  std::string class_name() const;

  nb::handle self_;

 private:
  std::vector<std::shared_ptr<bt::ModuleList>> lists_;
};

template <class Base>
class PyModuleOf : public Base, public PyParts {
 public:
  NB_TRAMPOLINE(Base);

  bt::Tensors update_all(const bt::Tensors& xs) override {
    self_ = nb_trampoline.base();
    return call_update(*this, xs);
  }
  std::string type_name() const override {
    const_cast<PyModuleOf*>(this)->self_ = nb_trampoline.base();
    return class_name();
  }
  void refresh() override {
    self_ = nb_trampoline.base();
    bring_up_to_date(*this);
  }
  void init_state(bt::BatchSize batch) override {
    self_ = nb_trampoline.base();
    call_hook("init_state", batch);
  }
  void reset_state(bt::BatchSize batch) override {
    self_ = nb_trampoline.base();
    call_hook("reset_state", batch);
  }
};
using PyModule = PyModuleOf<bt::Module>;

// Calls a module on trees of arguments.
nb::object call_module(bt::Module& module, const nb::args& args, const nb::kwargs& kwargs);
// What a call with flat inputs returned, in the structure that `update` gave it.
nb::object result_of(const bt::Module& module, const bt::Tensors& out);
// Inputs of one step, whose structure the module is told.
bt::Tensors inputs_of(bt::Module& module, const nb::args& args, const nb::kwargs& kwargs);

}  // namespace pybraintrace
