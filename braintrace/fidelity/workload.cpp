// SPDX-License-Identifier: Apache-2.0
#include "braintrace/fidelity/workload.h"

#include "braintrace/ops/move.h"
#include "braintrace/ops/random.h"

namespace braintrace {

Tensor random_sequence(const Type& step, int64_t steps, const Tensor& key) {
  Shape shape = step.shape;
  shape.insert(shape.begin(), steps);
  if (!is_float(step.dtype)) return random::randint(key, shape, 0, 2, step.dtype);
  return convert(random::normal(key, shape, DType::F32), step.dtype);
}

Type output_type(Module& model, const Type& input) {
  const Type y = trace_function({input}, [&](const Tensors& in) { return model.call(in); }).result_types().at(0);
  require(is_float(y.dtype), "fidelity: the model's output is {}; a loss needs floats.", to_string(y));
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
