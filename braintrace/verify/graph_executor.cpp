// SPDX-License-Identifier: Apache-2.0
#include "braintrace/verify/graph_executor.h"

#include <algorithm>
#include <ostream>

#include "braintrace/base/pack.h"
#include "braintrace/compiler/report.h"

namespace braintrace {

namespace {

Tensor or_zeros(const Tensor& t, const Type& type) { return t.defined() ? t : Tensor(type, 0); }

}  // namespace

void ETraceGraphExecutor::compile_graph(const StepInputs& inputs) {
  if (graph_) return;
  graph_ = compile_etrace_graph(*model_, inputs, options_);
  tell_warnings(graph_->diagnostics);
}

Tensors ETraceGraphExecutor::inputs_of(const Tensors& args) const {
  const StatefulProgram& step = graph().module_info.step;
  const Types            have = types_of(args), want = step.input_types().args;
  require(have.size() == want.size(), "executor: {} inputs given, compile_graph was given {}.", have.size(),
          want.size());
  for (size_t i = 0; i < want.size(); ++i)
    require(have[i] == want[i], "executor: input {} is {}, compile_graph was given {}.", i, to_string(have[i]),
            to_string(want[i]));
  return step.inputs(args);
}

Tensors ETraceGraphExecutor::forward(const Tensors& args) {
  const StatefulProgram& step = graph().module_info.step;
  return step.store(replay(step.program, step.constants, inputs_of(args)));
}

const ETraceGraph& ETraceGraphExecutor::graph() const {
  require(is_compiled(), "executor: call compile_graph with an example input first.");
  return *graph_;
}

Path ETraceGraphExecutor::state_id_to_path(const State& state) const {
  for (const auto& [path, mine] : model_->states())
    if (mine == state) return path;
  fail("executor: {} is not a state of the model.", state.place());
}

std::string ETraceGraphExecutor::show_graph() const { return braintrace::show_graph(graph()); }
void        ETraceGraphExecutor::show_graph(std::ostream& out) const { out << show_graph(); }

StepJacobians ETraceVjpGraphExecutor::solve_h2w_h2h_jacobian(const Tensors& args) const {
  return solve_h2w_h2h_l2h_jacobian(args).jacobians;
}

ETraceVjpGraphExecutor::WithStep ETraceVjpGraphExecutor::solve_h2w_h2h_l2h_jacobian(const Tensors& args) const {
  const ModuleInfo& info    = graph().module_info;
  const auto        step    = std::make_shared<Step>(graph(), inputs_of(args));
  const auto        results = split(step->results(), info.step.result_sizes());
  StepJacobians     out;
  out.out = results.results;
  for (const HiddenVar& h : info.hidden) {
    out.hidden_paths.emplace_back(h.path, h.state);
    out.hidden_vals.push_back(step->values()[h.out]);
  }
  for (size_t w = 0; w < info.step.writes.size(); ++w) {
    const State& state = info.step.writes[w].state;
    const bool   is_hidden =
        std::any_of(info.hidden.begin(), info.hidden.end(), [&](const HiddenVar& h) { return h.state == state; });
    if (!is_hidden) out.other_vals.push_back(results.writes[w]);
  }
  const auto& relations = graph().hidden_param_op_relations;
  for (size_t r = 0; r < relations.size(); ++r) {
    out.xs.push_back(step->values()[relations[r].x]);
    for (size_t c = 0; c < relations[r].connections.size(); ++c) {
      const Connection& connection = relations[r].connections[c];
      if (connection.path == PathClass::Windowed) continue;
      const HiddenGroup& g   = graph().hidden_groups[connection.group];
      const Tensor       D_f = or_zeros(step->D_f(static_cast<int>(r), static_cast<int>(c)),
                                        {state_dtype(graph(), g), g.on_positions({g.num_state})});
      out.dfs.push_back({static_cast<int>(r), connection.group, D_f});
    }
  }
  for (const HiddenGroup& g : graph().hidden_groups)
    out.Ds.push_back(or_zeros(step->D(g.index), {state_dtype(graph(), g), g.on_positions({g.num_state, g.num_state})}));
  return {std::move(out), step};
}

}  // namespace braintrace
