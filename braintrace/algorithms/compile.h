// SPDX-License-Identifier: Apache-2.0
// One call from a model to a learner that is ready to run: states are initialized, the learner is made, the graph is
// compiled. The algorithm is a name, a point in the axis space, or a class.
//
//   auto learner = bt::compile(model, "pp_prop", x, {.decay_or_rank = bt::TraceDecay::decay(0.9)}, {.batch_size = 8});
//   auto learner = bt::compile<bt::EProp>(model, x, {.batch_size = 8}, 0.5);
#pragma once

#include "braintrace/algorithms/etrace_vmap.h"
#include "braintrace/algorithms/registry.h"

namespace braintrace {

// How the model is prepared.
struct SetupOptions {
  BatchSize               batch_size = {};
  std::optional<uint64_t> seed       = {};  // of initial states; the default stream then goes on where it was
  int                     verbose    = 0;   // 1 prints what the compiler found, 2 its warnings too
};

// Inputs of one step; of a window, its first step counts.
struct ExampleInputs {
  Tensors step;

  ExampleInputs(const Tensor& x) : step{x} {}
  ExampleInputs(Tensors xs) : step(std::move(xs)) {}
  ExampleInputs(SingleStepData xs) : step(std::move(xs.data)) {}
  ExampleInputs(const MultiStepData& xs);
};

// Initializes the model's states anew (parameters keep their values). Throws CompileError when no weight reaches a
// hidden state, for rules that live on such relations.
std::unique_ptr<OnlineLearner> compile(Module& model, const std::string& algorithm, const ExampleInputs& examples,
                                       const RuleOptions& options = {}, const SetupOptions& setup = {});
std::unique_ptr<OnlineLearner> compile(Module& model, const ETraceConfig& config, const ExampleInputs& examples,
                                       const RuleOptions& options = {}, const SetupOptions& setup = {});

// The same for one sample, mapped over setup.batch_size of them: examples have a leading axis of that size.
std::unique_ptr<ETraceVmap> compile_vmap(Module& model, const std::string& algorithm, const ExampleInputs& examples,
                                         const RuleOptions& options, const SetupOptions& setup);
std::unique_ptr<ETraceVmap> compile_vmap(Module& model, const ETraceConfig& config, const ExampleInputs& examples,
                                         const RuleOptions& options, const SetupOptions& setup);

// The parts of `compile` that do not depend on the algorithm.
void prepare_model(Module& model, const ExampleInputs& examples, const SetupOptions& setup);
void compile_learner(OnlineLearner& learner, const ExampleInputs& examples, const SetupOptions& setup);

// `arguments` are those of the class's constructor after the model.
template <std::derived_from<OnlineLearner> Learner, class... Arguments>
std::unique_ptr<Learner> compile(Module& model, const ExampleInputs& examples, const SetupOptions& setup = {},
                                 Arguments&&... arguments) {
  prepare_model(model, examples, setup);
  auto learner = std::make_unique<Learner>(model, std::forward<Arguments>(arguments)...);
  compile_learner(*learner, examples, setup);
  return learner;
}

}  // namespace braintrace
