// SPDX-License-Identifier: Apache-2.0
// From a model to a learner that is ready to run, in one call: initializes the states, creates the learner, and
// compiles its graph. The algorithm is a name, an ETraceConfig, or a class.
//
//   auto learner = bt::compile(model, "pp_prop", x, {.decay_or_rank = bt::TraceDecay::decay(0.9)}, {.batch_size = 8});
//   auto learner = bt::compile<bt::EProp>(model, x, {.batch_size = 8}, 0.5);
#pragma once

#include "braintrace/algorithms/etrace_vmap.h"
#include "braintrace/algorithms/registry.h"

namespace braintrace {

// How `compile` prepares the model.
struct SetupOptions {
  BatchSize               batch_size = {};
  std::optional<uint64_t> seed       = {};  // for the initial states; the default random stream is restored afterwards
  int                     verbose    = 0;   // 1 prints what the compiler found, 2 also its warnings
};

// Example inputs of one step. From MultiStepData, the first step is used.
struct ExampleInputs {
  Tensors step;

  ExampleInputs(const Tensor& x) : step{x} {}
  ExampleInputs(Tensors xs) : step(std::move(xs)) {}
  ExampleInputs(SingleStepData xs) : step(std::move(xs.data)) {}
  ExampleInputs(const MultiStepData& xs);
};

// Reinitializes the model's states; parameters keep their values. Throws CompileError if the rule needs a weight that
// drives a hidden state and the model has none.
std::unique_ptr<OnlineLearner> compile(Module& model, const std::string& algorithm, const ExampleInputs& examples,
                                       const RuleOptions& options = {}, const SetupOptions& setup = {});
std::unique_ptr<OnlineLearner> compile(Module& model, const ETraceConfig& config, const ExampleInputs& examples,
                                       const RuleOptions& options = {}, const SetupOptions& setup = {});

// Compiles the learner for one sample and maps it over setup.batch_size samples, the leading axis of the examples.
std::unique_ptr<ETraceVmap> compile_vmap(Module& model, const std::string& algorithm, const ExampleInputs& examples,
                                         const RuleOptions& options, const SetupOptions& setup);
std::unique_ptr<ETraceVmap> compile_vmap(Module& model, const ETraceConfig& config, const ExampleInputs& examples,
                                         const RuleOptions& options, const SetupOptions& setup);

// The steps of `compile` that do not depend on the algorithm.
void prepare_model(Module& model, const ExampleInputs& examples, const SetupOptions& setup);
void compile_learner(OnlineLearner& learner, const ExampleInputs& examples, const SetupOptions& setup);

// `arguments` are passed to the constructor after the model.
template <std::derived_from<OnlineLearner> Learner, class... Arguments>
std::unique_ptr<Learner> compile(Module& model, const ExampleInputs& examples, const SetupOptions& setup = {},
                                 Arguments&&... arguments) {
  prepare_model(model, examples, setup);
  auto learner = std::make_unique<Learner>(model, std::forward<Arguments>(arguments)...);
  compile_learner(*learner, examples, setup);
  return learner;
}

}  // namespace braintrace
