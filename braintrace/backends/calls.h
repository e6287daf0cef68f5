// SPDX-License-Identifier: Apache-2.0
// Code that compiling backends share.
#pragma once

#include "braintrace/codegen/schedule.h"
#include "braintrace/runtime/backend.h"

namespace braintrace {

// A program without the results that are always zero, such as traces discarded at the end of a window. Backends compile
// this program; zero results are allocated once, and zero pages cost nothing.
struct NonzeroResults {
  Program program;
  Mask    is_zero;  // per result of the whole program

  // The feeds of the whole program whose results remain, with their new indices.
  std::vector<Feed> feeds(const std::vector<Feed>& whole) const;
};
NonzeroResults nonzero_results(const Program& program);

// Adds the zero results to those of `rest`.
std::shared_ptr<Executable> with_zero_results(std::shared_ptr<Executable> rest, const Program& whole,
                                              const Mask& is_zero);

// Memory needs of a schedule of `nonzero`; `feeds` are those of the whole program.
ProgramNeeds needs_of(const codegen::Schedule& schedule, const NonzeroResults& nonzero, const std::vector<Feed>& feeds,
                      const codegen::Target& target);

void check_constants(const Program& program, const Arrays& constants);
void check_arguments(const Types& types, const Arrays& args);

// Evaluates an equation that compiled code leaves to the host. A composite is evaluated by its body.
Arrays value_of(const codegen::HostEqn& call, const Arrays& args);

}  // namespace braintrace
