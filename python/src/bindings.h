// SPDX-License-Identifier: Apache-2.0
// The parts of the extension module, one function each.
#pragma once

#include <nanobind/nanobind.h>

namespace pybraintrace {

void bind_errors(nanobind::module_& m);
void bind_tensor(nanobind::module_& m);
void bind_ops(nanobind::module_& m);
void bind_own_ops(nanobind::module_& m);
void bind_own_rules(nanobind::module_& m);
void bind_tree(nanobind::module_& m);
void bind_state(nanobind::module_& m);
void bind_module(nanobind::module_& m);
void bind_environ(nanobind::module_& m);
void bind_transforms(nanobind::module_& m);
void bind_layers(nanobind::module_& m);
void bind_neurons(nanobind::module_& m);
void bind_training(nanobind::module_& m);
void bind_compiler(nanobind::module_& m);
void bind_executor(nanobind::module_& m);
void bind_learners(nanobind::module_& m);
void bind_tools(nanobind::module_& m);
void bind_trainer(nanobind::module_& m);
void bind_tasks(nanobind::module_& m);
void bind_fleet(nanobind::module_& m);
void bind_nir(nanobind::module_& m);
void bind_command(nanobind::module_& m);

}  // namespace pybraintrace
