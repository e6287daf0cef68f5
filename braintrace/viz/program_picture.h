// SPDX-License-Identifier: Apache-2.0
// Pictures of a program: one box per equation and input, arrows along values, in layers from top to bottom.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "braintrace/compiler/graph.h"

namespace braintrace {

struct ProgramNames {
  std::map<Var, std::string> inputs;   // other inputs show their number
  std::vector<std::string>   results;  // in order; results without a name show their position
};
// Names for the arguments and results of the step: inputs, outputs, states and weights by path.
ProgramNames names_of(const ModuleInfo& info);

std::string program_dot(const Program& program, const ProgramNames& names = {});
std::string program_svg(const Program& program, const ProgramNames& names = {});

}  // namespace braintrace
