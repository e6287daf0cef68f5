// SPDX-License-Identifier: Apache-2.0
#include "braintrace/executor/check_finite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/base/lists.h"

namespace braintrace {

namespace {

// Names of the states that depend on an equation's result.
std::string states_reached(const ModuleInfo& info, size_t eqn) {
  const Vars               reached = reach_forward(Flow(info.program(), info.entries()), info.program().eqns[eqn].out);
  std::vector<std::string> states;
  for (const HiddenVar& h : info.hidden)
    if (contains(reached, h.out)) states.push_back(h.path.str());
  return states.empty() ? "no hidden state" : fmt::format("{}", fmt::join(states, ", "));
}

}  // namespace

std::string describe_input(const ModuleInfo& info, size_t input) {
  return input < info.step.num_args ? fmt::format("input {}", input)
                                    : info.step.reads[input - info.step.num_args].place();
}

std::string describe_equation(const ModuleInfo& info, size_t eqn) {
  const Program&     p    = info.program();
  const std::string& note = p.notes[p.eqns[eqn].note];
  return fmt::format("the result of equation {} of the step{},\n    {}\n  which goes into {},", eqn,
                     note.empty() ? "" : fmt::format(" ({})", note), describe(p, eqn), states_reached(info, eqn));
}

}  // namespace braintrace
