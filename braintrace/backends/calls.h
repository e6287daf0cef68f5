// SPDX-License-Identifier: Apache-2.0
// What backends that compile do alike with a program and its calls.
#pragma once

#include "braintrace/codegen/schedule.h"
#include "braintrace/runtime/backend.h"

namespace braintrace {

// A program without the results that are always zero, such as traces dropped at the end of a window. This is what
// backends compile: such results are made once, and pages of zeros cost nothing.
struct NonzeroResults {
  Program program;
  Mask    is_zero;  // by result of the whole program

  // Those of the whole program whose results are left, by the numbers they have now.
  std::vector<Feed> feeds(const std::vector<Feed>& whole) const;
};
NonzeroResults nonzero_results(const Program& program);

// `rest` gives the other results.
std::shared_ptr<Executable> with_zero_results(std::shared_ptr<Executable> rest, const Program& whole,
                                              const Mask& is_zero);

// What a schedule of `nonzero` takes, of which `feeds` of the whole program are fed.
ProgramNeeds needs_of(const codegen::Schedule& schedule, const NonzeroResults& nonzero, const std::vector<Feed>& feeds,
                      const codegen::Target& target);

void check_constants(const Program& program, const Arrays& constants);
void check_arguments(const Types& types, const Arrays& args);

// An equation that compiled code leaves to the host. A composite is evaluated by its parts.
Arrays value_of(const codegen::HostEqn& call, const Arrays& args);

}  // namespace braintrace
