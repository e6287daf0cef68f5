// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "bindings.h"
#include "ctrl_c.h"

NB_MODULE(_core, m) {
  using namespace pybraintrace;
  static bool is_loaded = false;
  if (std::exchange(is_loaded, true)) {
    PyErr_SetString(
        PyExc_ImportError,
        "pybraintrace can be loaded once in a process, but was removed from sys.modules; restart the interpreter");
    throw nanobind::python_error();
  }
  nanobind::set_leak_warnings(false);  // objects that live until the end of the process are not leaks
  m.doc() = "C++ extension module of pybraintrace.";
  begin_to_listen();
  bind_errors(m);
  bind_tensor(m);
  bind_ops(m);
  bind_own_ops(m);
  bind_tree(m);
  bind_state(m);
  bind_module(m);
  bind_environ(m);
  bind_transforms(m);
  bind_training(m);
  bind_layers(m);
  bind_neurons(m);
  bind_compiler(m);
  bind_executor(m);
  bind_learners(m);
  bind_own_rules(m);
  bind_tools(m);
  bind_trainer(m);
  bind_tasks(m);
  bind_fleet(m);
  bind_nir(m);
  bind_command(m);
}
