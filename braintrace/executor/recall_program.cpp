// SPDX-License-Identifier: Apache-2.0
#include "braintrace/executor/recall_program.h"

#include "braintrace/control/nested.h"
#include "braintrace/transforms/inline.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

RecallProgram build_recall_program(const ETraceGraph& graph, const LearningRule& rule) {
  const ModuleInfo& info   = graph.module_info;
  const Program&    p      = info.program();
  const Types       inputs = p.types_of(p.args), memory = types_of(rule.memory(graph));
  Types             weights;
  for (const WeightVar& w : info.weights) weights.push_back(p.type(w.var));

  RecallProgram out;
  out.recall         = trace(joined(joined(inputs, memory), p.types_of(info.entries())), [&](const Tensors& in) {
    Step          step(graph, part(in, 0, inputs.size()));
    const Tensors cotangents = part(in, inputs.size() + memory.size(), info.hidden.size());
    Tensors       credit, gradients(weights.size());
    for (const HiddenGroup& g : graph.hidden_groups) {
      Tensors members;
      for (int m : g.members) members.push_back(cotangents[m]);
      credit.push_back(g.concat_hidden(members));
    }
    rule.recall(step, part(in, inputs.size(), memory.size()), credit, gradients);
    return instantiated(gradients, weights);
  });
  out.recall.program = simplify(expand_composites(out.recall.program));
  Mask arguments(out.recall.program.constants.size() + out.recall.program.args.size());
  std::fill_n(arguments.begin() + static_cast<int64_t>(out.recall.program.constants.size()), info.step.num_args, true);
  out.reads_arguments = any_true(result_dependence(out.recall.program, arguments));
  return out;
}

}  // namespace braintrace
