// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/shared_ptr.h>

#include "bindings.h"
#include "braintrace/nn/dynamics.h"
#include "module.h"

namespace pybraintrace {

namespace {

// Parts of a C++ layer, by the names of its states, and its settings: layer.h, layer.Wz, layer.in_size.
nb::object part_named(nb::handle self, const std::string& name) {
  if (!name.starts_with("__")) {
    bt::StateMap below;
    for (const auto& [path, state] : nb::cast<bt::Module&>(self).states()) {
      if (path.keys().front() != name) continue;
      if (path.keys().size() == 1) return object_of(state);
      bt::Path rest;
      for (size_t i = 1; i < path.keys().size(); ++i) rest = rest / path.keys()[i];
      below.emplace_back(rest, state);
    }
    nb::module_ modules = nb::module_::import_("pybraintrace._modules");
    if (!below.empty()) return modules.attr("Part")(name, dict_of(below));
    const auto& module = nb::cast<bt::Module&>(self);
    // A neuron has one size, by three names.
    const bool        is_size = name == "varshape" || name == "out_size";
    const bool        has_one = dynamic_cast<const bt::nn::Neuron*>(&module) != nullptr;
    const std::string text    = module.setting(is_size && has_one ? "in_size" : name);
    if (!dynamic_cast<const PyParts*>(&module) && !text.empty()) {
      nb::object value = modules.attr("setting_of")(text);
      if (!value.is(nb::handle(Py_NotImplemented))) return value;
    }
  }
  PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute '%s'",
               nb::cast<std::string>(nb::str(self.type().attr("__name__"))).c_str(), name.c_str());
  throw nb::python_error();
}

}  // namespace

void bind_module(nb::module_& m) {
  nb::class_<bt::Module, PyModule> c(
      m, "Module", nb::dynamic_attr(), nb::is_weak_referenceable(),
      "Base class of models and their parts.\n"
      "\n"
      "A subclass keeps children and states as attributes, and defines one step of the computation in `update`.\n"
      "\n"
      ">>> import pybraintrace as bt\n"
      ">>> class Net(bt.nn.Module):\n"
      "...     def __init__(self):\n"
      "...         super().__init__()\n"
      "...         self.rnn = bt.nn.GRUCell(3, 4)\n"
      "...         self.out = bt.nn.Linear(4, 2)\n"
      "...     def update(self, x):\n"
      "...         return self.out(self.rnn(x))\n"
      ">>> net = bt.nn.init_all_states(Net())\n"
      ">>> net(bt.numpy.zeros(3)).shape\n"
      "(2,)");
  c.def(nb::init<>());
  c.def("__call__", &call_module, "args"_a, "kwargs"_a, "Run one step.");
  c.def("__getattr__", &part_named, "name"_a);
  c.def("_states", [](const bt::Module& module) { return dict_of(module.states()); });
  c.def("_type_name", [](const bt::Module& module) { return module.type_name(); });
  c.def("__repr__", [](const bt::Module& module) { return bt::to_string(module); });
  m.def(
      "init_all_states", [](const bt::Module& model, bt::BatchSize batch) { bt::init_all_states(model, {batch}); },
      "model"_a, "batch_size"_a = nb::none(), "Initialize all states of a model.");
  m.def(
      "reset_all_states", [](const bt::Module& model, bt::BatchSize batch) { bt::reset_all_states(model, {batch}); },
      "model"_a, "batch_size"_a = nb::none(), "Reset all states of a model.");
  m.def("is_made", &nb::inst_ready, "object"_a, "Return whether the constructor of the base class ran.");
  m.def("is_updating", &bt::is_updating, "Return whether the update of a module is running.");
}

}  // namespace pybraintrace
