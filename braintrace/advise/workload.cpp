// SPDX-License-Identifier: Apache-2.0
#include "braintrace/advise/workload.h"

#include "braintrace/algorithms/drivers.h"
#include "braintrace/algorithms/registry.h"
#include "braintrace/functions/functions.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {

int64_t bytes_of(const StateMap& states) {
  int64_t n = 0;
  for (const auto& [path, state] : states)
    for (const std::string& leaf : state.leaf_names()) n += state.leaf(leaf).type().bytes();
  return n;
}

namespace {

Type with_leading(Type type, int64_t length) {
  type.shape.insert(type.shape.begin(), length);
  return type;
}

}  // namespace

Workload::Workload(Module& model, const Type& input, const Candidate& candidate, const AdviseOptions& options,
                   int64_t most_bytes)
    : model_(&model), candidate_(candidate) {
  init_all_states(model, {.batch_size = options.batch});
  const Algorithm& algorithm = algorithm_named(candidate.rule);
  learner_                   = algorithm.learner(model, algorithm.usual(1).options);
  // Traces are created with the graph, so their size is checked before.
  const ETraceGraph graph  = compile_etrace_graph(model, {input}, learner_->rule().scope({}));
  int64_t           traces = 0;
  for (const MemorySlot& slot : learner_->rule().memory(graph)) traces += slot.type.bytes();
  require(traces <= most_bytes, "its traces alone take {}", bytes_text(static_cast<double>(traces)));
  learner_->compile_graph(Types{input});
  optimizer_.register_trainable_weights(model.params());

  Type y = trace_function({input}, [&](const Tensors& in) { return model.call(in); }).result_types().at(0);
  require(is_float(y.dtype), "the model returns {}; a loss needs floating-point outputs", to_string(y));
  args_ = {input, y};
  if (candidate.form != Form::Step)
    for (Type& t : args_) t = with_leading(t, candidate.window);
}

Tensor Workload::call(const Tensor& xs, const Tensor& ys) {
  const auto loss = [this](Tensor x, Tensor y) { return mean(square((*learner_)(x)-y)); };
  if (candidate_.form == Form::Step) {
    auto [value, grads] = value_and_grad(loss, model_->params())(xs, ys);
    optimizer_.update(grads);
    return value;
  }
  const bool dropped = candidate_.form == Form::Window;
  auto       r       = etrace_grad(loss, *learner_, {.window = Window::all(), .drop_traces = dropped})(xs, ys);
  optimizer_.update(r.grads);
  return mean(r.losses);
}

Memory Workload::resident(const StateSet& live) const {
  Memory m;
  m.weights   = bytes_of(model_->params());
  m.states    = bytes_of(model_->states()) - m.weights;
  m.optimizer = bytes_of(optimizer_.states());
  StateMap traces;
  for (const auto& [path, state] : learner_->own_states())
    if (live.contains(state.cell().get())) traces.emplace_back(path, state);
  m.traces = bytes_of(traces);
  for (const Type& t : args_) m.data += t.bytes();
  return m;
}

}  // namespace braintrace
