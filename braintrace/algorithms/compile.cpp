// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/compile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/base/lists.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/model/snapshot.h"

namespace braintrace {

namespace {

void require_relations(const OnlineLearner& learner) {
  const ETraceGraph& graph = learner.graph();
  if (!graph.hidden_param_op_relations.empty() || !learner.rule().facts().needs_a_relation) return;
  std::string message = fmt::format(
      "compile: no weight of the model reaches a hidden state through a trainable operation, so {} has nothing to "
      "trace.\n"
      "  Read weights with matmul, conv, element_wise or another trainable operation, and keep memory in hidden "
      "states.",
      learner.rule().name());
  for (const auto& w : CompilationReport(graph).excluded_weights())
    message += fmt::format("\n  {}: {}", w.path.str(), w.why.empty() ? "in no relation" : w.why);
  throw CompileError(message, graph.diagnostics);
}

std::unique_ptr<OnlineLearner> ready(std::unique_ptr<OnlineLearner> learner, const ExampleInputs& examples,
                                     const SetupOptions& setup) {
  prepare_model(learner->model(), examples, setup);
  compile_learner(*learner, examples, setup);
  return learner;
}

}  // namespace

ExampleInputs::ExampleInputs(const MultiStepData& xs) {
  for (const Tensor& x : xs.data) {
    require(x.defined() && x.rank() > 0 && x.shape()[0] > 0,
            "compile: MultiStepData needs tensors with a leading time axis of at least one step.");
    step.emplace_back(Type{x.dtype(), part(x.shape(), 1, x.rank())}, 0);
  }
}

void prepare_model(Module& model, const ExampleInputs& examples, const SetupOptions& setup) {
  require(!examples.step.empty(), "compile: no example input.\n  Give the inputs of one step, such as zeros({{10}}).");
  for (const Tensor& x : examples.step) require(x.defined(), "compile: an example input is undefined.");
  require(setup.verbose >= 0 && setup.verbose <= 2, "compile: verbose must be 0, 1 or 2, got {}.", setup.verbose);
  std::optional<Undo> seeded;  // restores the default stream
  if (setup.seed) {
    seeded.emplace(StateMap{{Path{}, random::default_stream()}});
    random::seed(*setup.seed);
  }
  init_all_states(model, {.batch_size = setup.batch_size});
}

void compile_learner(OnlineLearner& learner, const ExampleInputs& examples, const SetupOptions& setup) {
  learner.compile_graph(examples.step);
  require_relations(learner);
  if (setup.verbose > 0) fmt::print("{}", learner.report().to_str(setup.verbose));
}

std::unique_ptr<OnlineLearner> compile(Module& model, const std::string& algorithm, const ExampleInputs& examples,
                                       const RuleOptions& options, const SetupOptions& setup) {
  return ready(algorithm_named(algorithm).learner(model, options), examples, setup);
}

std::unique_ptr<OnlineLearner> compile(Module& model, const ETraceConfig& config, const ExampleInputs& examples,
                                       const RuleOptions& options, const SetupOptions& setup) {
  return ready(make_learner(model, config, options), examples, setup);
}

namespace {

template <class Algorithm>
std::unique_ptr<ETraceVmap> mapped(Module& model, const Algorithm& algorithm, const ExampleInputs& examples,
                                   const RuleOptions& options, SetupOptions setup) {
  const BatchSize lanes = setup.batch_size;
  require(lanes && *lanes > 0, "compile_vmap: set batch_size, the number of samples, to a positive number.");
  setup.batch_size.reset();  // the learner is compiled for one sample
  Tensors one;
  for (const Tensor& x : examples.step) {
    require(x.defined() && x.rank() > 0 && x.shape()[0] == *lanes, ErrorKind::Shape,
            "compile_vmap: an example input is {}; its leading axis must be the {} samples.",
            x.defined() ? to_string(x.type()) : "undefined", *lanes);
    one.push_back(x[0]);
  }
  return std::make_unique<ETraceVmap>(compile(model, algorithm, ExampleInputs(one), options, setup), *lanes);
}

}  // namespace

std::unique_ptr<ETraceVmap> compile_vmap(Module& model, const std::string& algorithm, const ExampleInputs& examples,
                                         const RuleOptions& options, const SetupOptions& setup) {
  return mapped(model, algorithm, examples, options, setup);
}
std::unique_ptr<ETraceVmap> compile_vmap(Module& model, const ETraceConfig& config, const ExampleInputs& examples,
                                         const RuleOptions& options, const SetupOptions& setup) {
  return mapped(model, config, examples, options, setup);
}

}  // namespace braintrace
