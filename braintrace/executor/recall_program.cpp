// SPDX-License-Identifier: Apache-2.0
#include "braintrace/executor/recall_program.h"

#include "braintrace/base/pack.h"
#include "braintrace/control/nested.h"
#include "braintrace/transforms/inline.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

RecallProgram build_recall_program(const ETraceGraph& graph, const LearningRule& rule) {
  const ModuleInfo& info   = graph.module_info;
  const Program&    p      = info.program();
  const auto        inputs = info.step.input_types();
  Types             weights;
  for (const WeightVar& w : info.weights) weights.push_back(p.type(w.var));
  const RecallInputs<Types> types{inputs.args, inputs.reads, types_of(rule.memory(graph)), p.types_of(info.entries())};

  RecallProgram out;
  out.recall         = trace(joined(types), [&](const Tensors& flat) {
    const RecallInputs<Tensors> in = split(flat, types);
    Step                        step(graph, joined(in.args, in.states));
    Tensors                     credit, gradients(weights.size());
    for (const HiddenGroup& g : graph.hidden_groups) credit.push_back(g.concat_hidden(gather(in.credit, g.members)));
    rule.recall(step, in.memory, credit, gradients);
    return instantiated(gradients, weights);
  });
  out.recall.program = simplify(expand_composites(out.recall.program));
  auto marks         = map_sections([](const Types& section) { return Mask(section.size(), false); }, types);
  marks.args.flip();
  const Mask constants(out.recall.program.constants.size(), false);
  out.reads_arguments = any_true(result_dependence(out.recall.program, joined(constants, joined(marks))));
  return out;
}

}  // namespace braintrace
