// SPDX-License-Identifier: Apache-2.0
#include "braintrace/fidelity/workload.h"

#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/random.h"

namespace braintrace {

namespace {

Shape with_steps(Shape shape, int64_t steps) {
  shape.insert(shape.begin(), steps);
  return shape;
}

StatefulProgram step_of(Module& model, const Type& input) {
  return trace_function({input}, [&](const Tensors& in) { return model.call(in); });
}

// The number of ids, one or two: a vocabulary may have only one word.
int64_t ids_of(Module& model, const Type& input) {
  const StatefulProgram step = step_of(model, input);
  try {
    replay(step.program, step.constants, step.inputs({Tensor(input, 1)}));
    return 2;
  } catch (const UserError&) {
    return 1;
  }
}

}  // namespace

Tensor random_inputs(Module& model, const Type& input, int64_t steps, const Tensor& key) {
  if (is_float(input.dtype)) return random_sequence(input, steps, key);
  return random::randint(key, with_steps(input.shape, steps), 0, ids_of(model, input), input.dtype);
}

Tensor random_sequence(const Type& step, int64_t steps, const Tensor& key) {
  return convert(random::normal(key, with_steps(step.shape, steps), DType::F32), step.dtype);
}

Type output_type(Module& model, const Type& input) {
  const Type y = step_of(model, input).result_types().at(0);
  require(is_float(y.dtype), "fidelity: the model returns {}; a loss needs floating-point outputs.", to_string(y));
  return y;
}

Credit credit_of(const ETraceGraph& graph, const std::string& parameter_leaf) {
  Credit credit = Credit::SameStep;
  for (const HiddenParamOpRelation& r : graph.hidden_param_op_relations)
    for (const Trainable& t : r.trainables)
      for (int l : t.leaves) {
        if (graph.module_info.weights[l].name() != parameter_leaf) continue;
        if (r.carries_trace()) return Credit::Trace;
        credit = Credit::Window;
      }
  return credit;
}

}  // namespace braintrace
