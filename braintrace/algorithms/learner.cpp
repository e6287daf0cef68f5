// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/learner.h"

#include "braintrace/compiler/report.h"
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
  c.graph = compile_etrace_graph(*model_, types_of(examples), rule_->scope(options_));
  c.step  = build_step_program(c.graph, *rule_);
  for (const Type& t : c.step.memory) c.memory.emplace_back(LongTermState(Tensor(t, 0)));
  compiled_ = std::move(c);
}

Tensors OnlineLearner::update(const Tensors& xs) {
  const Compiled&        c        = compiled();
  const StatefulProgram& step     = c.graph.module_info.step;
  const size_t           n_in     = step.program.args.size();
  const size_t           n_out    = step.program.results.size();
  const size_t           n_memory = c.memory.size();
  require(types_of(xs) == step.program.types_of({step.program.args.begin(),
                                                 step.program.args.begin() + static_cast<int64_t>(step.num_args)}),
          "learner: the inputs differ in number or type from the example given to compile_graph.");

  Tensors inputs = step.inputs(xs);
  for (const State& t : c.memory) inputs.push_back(t.value());

  const auto run      = [&](const Tensors& in) { return replay(c.step.forward, c.step.forward_constants, in); };
  const auto forward  = [&](const Tensors& in) { return part(run(in), 0, n_out + n_memory); };
  const auto fwd_rule = [&](const Tensors& in) -> ForwardPass {
    const Tensors all = run(in);
    return {part(all, 0, n_out + n_memory), part(all, n_out + n_memory, c.step.num_residuals)};
  };
  // The memory is not differentiated: its cotangents are neither read nor made.
  const auto bwd_rule = [&](const Tensors& residuals, const Tensors& ct) {
    Tensors in_ct = replay(c.step.backward, {}, concatenated(residuals, part(ct, 0, n_out)));
    for (const Type& t : c.step.memory) in_ct.emplace_back(t, 0);
    ensure(in_ct.size() == n_in + n_memory, "learner: {} cotangents for {} inputs", in_ct.size(), n_in + n_memory);
    return in_ct;
  };
  const Tensors out = custom_vjp(forward, fwd_rule, bwd_rule)(inputs);
  for (size_t i = 0; i < n_memory; ++i) c.memory[i].set(out[n_out + i]);
  return step.store(part(out, 0, n_out));
}

void OnlineLearner::reset_state() {
  for (const State& m : compiled().memory) m.set(Tensor(m.value().type(), 0));
}

std::string OnlineLearner::show_graph() const { return braintrace::show_graph(graph()); }

Tensors OnlineLearner::memory() const {
  Tensors out;
  for (const State& m : compiled().memory) out.push_back(m.value());
  return out;
}

}  // namespace braintrace
