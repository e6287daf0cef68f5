// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/learner.h"

#include "braintrace/control/custom.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

const OnlineLearner::Compiled& OnlineLearner::compiled() const {
  require(is_compiled(), "learner: call compile_graph with an example input first.");
  return *compiled_;
}

void OnlineLearner::compile_graph(const Tensors& examples) {
  if (is_compiled()) return;
  Compiled c;
  c.graph = compile_etrace_graph(*model_, types_of(examples), options_);
  c.step  = build_step_program(c.graph);
  for (const TraceSlot& slot : c.step.traces) c.traces.emplace_back(LongTermState(Tensor(slot.type, 0)));
  compiled_ = std::move(c);
}

Tensors OnlineLearner::update(const Tensors& xs) {
  const Compiled&        c       = compiled();
  const StatefulProgram& step    = c.graph.module_info.step;
  const size_t           n_in    = step.program.args.size();
  const size_t           n_out   = step.program.results.size();
  const size_t           n_trace = c.traces.size();
  require(types_of(xs) == step.program.types_of({step.program.args.begin(), step.program.args.begin() + static_cast<int64_t>(step.num_args)}),
          "learner: the inputs differ in number or type from the example given to compile_graph.");

  Tensors inputs = step.inputs(xs);
  for (const State& t : c.traces) inputs.push_back(t.value());

  const auto run      = [&](const Tensors& in) { return replay(c.step.forward, c.step.forward_constants, in); };
  const auto forward  = [&](const Tensors& in) { return part(run(in), 0, n_out + n_trace); };
  const auto fwd_rule = [&](const Tensors& in) -> ForwardPass {
    const Tensors all = run(in);
    return {part(all, 0, n_out + n_trace), part(all, n_out + n_trace, c.step.num_residuals)};
  };
  // Traces are not differentiated: their cotangents are neither read nor made.
  const auto bwd_rule = [&](const Tensors& residuals, const Tensors& ct) {
    Tensors in_ct = replay(c.step.backward, {}, concatenated(residuals, part(ct, 0, n_out)));
    for (const TraceSlot& slot : c.step.traces) in_ct.emplace_back(slot.type, 0);
    ensure(in_ct.size() == n_in + n_trace, "learner: {} cotangents for {} inputs", in_ct.size(), n_in + n_trace);
    return in_ct;
  };
  const Tensors out = custom_vjp(forward, fwd_rule, bwd_rule)(inputs);
  for (size_t i = 0; i < n_trace; ++i) c.traces[i].set(out[n_out + i]);
  return step.store(part(out, 0, n_out));
}

void OnlineLearner::reset_state() {
  for (size_t i = 0; i < compiled().traces.size(); ++i) compiled_->traces[i].set(Tensor(compiled_->step.traces[i].type, 0));
}

std::vector<std::pair<TraceSlot, Tensor>> OnlineLearner::get_etrace_of(const Path& weight) const {
  const Compiled&                           c = compiled();
  std::vector<std::pair<TraceSlot, Tensor>> out;
  for (size_t i = 0; i < c.traces.size(); ++i) {
    const TraceSlot& slot = c.step.traces[i];
    const Trainable& t    = c.graph.hidden_param_op_relations[slot.relation].trainables[slot.trainable];
    for (int leaf : t.leaves)
      if (c.graph.module_info.weights[leaf].path == weight) {
        out.emplace_back(slot, c.traces[i].value());
        break;
      }
  }
  require(!out.empty(), "learner: no eligibility trace follows '{}'; see graph().explain({{.weight_path = …}}) for the reason.", weight.str());
  return out;
}

}  // namespace braintrace
