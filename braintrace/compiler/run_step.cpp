// SPDX-License-Identifier: Apache-2.0
// Runs the step outside a learner, plain or perturbed; its results by kind of state, and its records as text.
#include "braintrace/compiler/run_step.h"

#include <fmt/format.h>

#include "braintrace/transforms/walk.h"

namespace braintrace {

StepValues run_step(const ModuleInfo& info, const Tensors& args, const Tensors& old_state_vals,
                    const Tensors& further) {
  const StatefulProgram& step = info.step;
  const Program&         p    = step.program;
  require(args.size() == step.num_args, "one step of the model: {} arguments given, it takes {}.", args.size(),
          step.num_args);
  require(old_state_vals.empty() || old_state_vals.size() == step.reads.size(),
          "one step of the model: {} old state values given, it reads {} leaves.", old_state_vals.size(),
          step.reads.size());
  const Tensors in   = joined(old_state_vals.empty() ? step.inputs(args) : joined(args, old_state_vals), further);
  const Types   want = p.types_of(p.args);
  for (size_t i = 0; i < in.size(); ++i)
    require(in[i].type() == want[i], "one step of the model: input {} is {}, expected {}.", i, to_string(in[i].type()),
            to_string(want[i]));

  StepValues out;
  out.temps.resize(p.types.size());
  bind_inputs(p, joined(step.constants, in), out.temps);
  for (const Eqn& e : p.eqns) scatter(out.temps, e.out, apply(*e.op, gather(out.temps, e.in), e.attrs));
  for (size_t i = 0; i < step.num_results; ++i) out.out.push_back(out.temps[p.results[i]]);
  for (size_t w = 0; w < step.writes.size(); ++w) {
    const State& state = step.writes[w].state;
    auto&        list  = state.is_hidden() ? out.etrace_vals : out.other_state_vals;
    if (!state.is_param()) list.emplace_back(info.path_of(state), out.temps[p.results[step.num_results + w]]);
  }
  return out;
}

StepValues ModuleInfo::jaxpr_call(const Tensors& args, const Tensors& old_state_vals) const {
  return run_step(*this, args, old_state_vals);
}

ModuleInfo ModuleInfo::add_jaxpr_outs(const Vars& values) const {
  ModuleInfo out = *this;
  for (Var v : values) {
    require(v >= 0 && static_cast<size_t>(v) < program().types.size(), "add_jaxpr_outs: the step has no value %{}.", v);
    out.step.program.results.push_back(v);
  }
  return out;
}

ModuleInfo::StateOuts ModuleInfo::split_state_outvars() const {
  StateOuts out;
  for (size_t w = 0; w < step.writes.size(); ++w) {
    const State& state = step.writes[w].state;
    Vars&        list  = state.is_param() ? out.weights : state.is_hidden() ? out.hidden : out.others;
    list.push_back(program().results[step.num_results + w]);
  }
  return out;
}

}  // namespace braintrace
