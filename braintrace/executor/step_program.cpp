// SPDX-License-Identifier: Apache-2.0
#include "braintrace/executor/step_program.h"

#include <algorithm>

#include "braintrace/ops/families.h"
#include "braintrace/transforms/inline.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

StepProgram build_step_program(const ETraceGraph& graph, const LearningRule& rule) {
  const ModuleInfo& info     = graph.module_info;
  const Program&    p        = info.program();
  const Types       in_types = p.types_of(p.args);
  StepProgram       out;
  out.memory = rule.memory(graph);

  auto    forward = Builder::open();
  Tensors inputs, before;
  for (const Type& t : in_types) inputs.push_back(forward->argument(t));
  for (const Type& t : out.memory) before.push_back(forward->argument(t));
  Step          step(graph, inputs);
  const Tensors after = rule.advance(step, before);

  // The backward program is traced inside the forward one: what it needs of it are its constants, the residuals.
  auto    backward = Builder::open();
  Tensors ct;
  for (Var v : p.results) ct.push_back(backward->argument(p.type(v)));
  Step::Pulled pulled = step.pull(ct);
  Tensors      leaf_gradients(info.weights.size());
  rule.credit(step, before, after, step.signals(pulled.G), leaf_gradients);
  for (size_t w = 0; w < info.weights.size(); ++w) {
    const auto at     = std::find(p.args.begin(), p.args.end(), info.weights[w].var) - p.args.begin();
    pulled.inputs[at] = add_defined(pulled.inputs[at], leaf_gradients[w]);
  }
  Traced back = backward->finish(instantiated(pulled.inputs, in_types));

  Traced run            = forward->finish(concatenated(concatenated(step.results(), after), back.constants));
  out.num_residuals     = back.constants.size();
  out.forward           = simplify(expand_composites(run.program));
  out.forward_constants = run.constants;
  out.backward          = simplify(expand_composites(constants_as_args(back.program)));
  return out;
}

}  // namespace braintrace
