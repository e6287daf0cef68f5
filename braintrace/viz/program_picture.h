// SPDX-License-Identifier: Apache-2.0
// Pictures of a program: one box per equation and input, arrows along values, in layers from top to bottom.
#pragma once

#include <map>
#include <string>

#include "braintrace/compiler/graph.h"

namespace braintrace {

using ValueNames = std::map<Var, std::string>;

// Paths of states and weights, by the value that holds them at the start of the step.
ValueNames input_names(const ModuleInfo& info);

std::string program_dot(const Program& program, const ValueNames& names = {});
std::string program_svg(const Program& program, const ValueNames& names = {});

}  // namespace braintrace
